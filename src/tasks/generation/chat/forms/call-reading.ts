/** What the readers of all forms of calls share. */
import type { Tool, ToolCall } from "../messages.ts";
import { compactJson, readJsonItems, readJsonMembers, readString } from "./json-source.ts";
import type { CursorReading, CallCursor } from "./text-cursor.ts";

/** A call without its id. */
export type CallText = Pick<ToolCall, "name" | "arguments">;

/** A text in which calls are read. */
export interface CallReading {
  readonly cursor: CallCursor;
  readonly tools: readonly Tool[];
  /** Takes a call, which was read to its end. */
  readonly add: (call: CallText) => void;
}

/** Beginnings of calls. */
export interface CallStart {
  /** Text that began the calls, and was read. Empty: the calls begin without any. */
  readonly open: string;
  /** Whether a call that is not properly ended is read as far as possible. Only for texts that have ended. */
  readonly isLenient: boolean;
}

/** Whether a tool of this name is offered. */
export function isOffered(tools: readonly Tool[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

/** Reads white space, and the line that begins a block of code. Returns whether there was one. */
export function* readFence(cursor: CallCursor): CursorReading<boolean> {
  yield* cursor.space();
  const isFenced = yield* cursor.take("```");
  if (isFenced) yield* cursor.takeWhile(/[a-z]/i);
  yield* cursor.space();
  return isFenced;
}

/** Reads the end of a block of code. */
export function* readFenceEnd(cursor: CallCursor): CursorReading<void> {
  yield* cursor.space();
  yield* cursor.take("```");
}

/** The calls that a value of JSON is: an object with a name and arguments, or a list of these. Undefined for anything else. */
export function callsFromJson(text: string): readonly CallText[] | undefined {
  const json = compactJson(text);
  if (json === undefined) return undefined;
  const calls = (readJsonItems(json) ?? [json]).map(callFromJson);
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

function callFromJson(json: string): CallText | undefined {
  const outer = readJsonMembers(json);
  const inner = outer?.get("function");
  const members = inner === undefined ? outer : (readJsonMembers(inner) ?? outer);
  const name = readString(members?.get("name") ?? members?.get("tool_name") ?? inner);
  const given = members?.get("arguments") ?? members?.get("parameters") ?? members?.get("args") ?? "{}";
  const values = argumentsFromJson(given);
  return name === undefined || values === undefined ? undefined : { name, arguments: values };
}

/** Arguments are an object, or a string that contains one. */
function argumentsFromJson(json: string): string | undefined {
  const text = readString(json);
  const values = text === undefined ? json : text.trim() === "" ? "{}" : compactJson(text);
  if (values === "null") return "{}";
  return values?.startsWith("{") === true ? values : undefined;
}
