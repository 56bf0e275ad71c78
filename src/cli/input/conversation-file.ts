/** A conversation in a JSON file: a list of messages, or an object with `messages`, `tools` and further variables of the chat template. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { jsonText, parseJson } from "../../formats/json/exact-json.ts";
import { isObject } from "../../contract/shapes/shape.ts";
import type { ChatMessage, Tool, ToolCall } from "../../tasks/generation/chat/messages.ts";
import { readGivenText } from "./given-file.ts";

const remedy = "give a file of JSON: inferyard chat --help";

/** Content of a conversation file. */
export interface ConversationFile {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Its other members: variables of the template. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The members of an object of JSON, as they are written; for a list, `messages`. */
  readonly json: string;
}

/** Reads a file. Throws INPUT_INVALID if it cannot be read, is not JSON, or is neither a list nor an object. */
export async function readConversationFile(path: string): Promise<ConversationFile> {
  const text = (await readJsonFile(path)).trim();
  const value: unknown = parse(path, text);
  if (Array.isArray(value)) return { messages: toMessages(value), tools: [], variables: {}, json: `"messages":${text}` };
  if (!isObject(value)) throw wrong(path, "holds neither a list of messages nor an object");
  const { messages, tools, ...variables } = value;
  return { messages: toMessages(messages), tools: toTools(tools), variables, json: getMembers(text, tools) };
}

/** Reads tools from a file: a list of `{ name, description, parameters }`, or of the same in OpenAI's form. */
export async function readToolsFile(path: string): Promise<readonly Tool[]> {
  return toTools(parse(path, await readJsonFile(path)));
}

async function readJsonFile(path: string): Promise<string> {
  return (await readGivenText(path, remedy)).replace(/^\uFEFF/, "");
}

function parse(path: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw wrong(path, `cannot be read as JSON: ${getMessage(error)}`, error);
  }
}

/** The members as they are written. Tools without OpenAI's frame are written once more, in it: of equal names the last one counts. */
function getMembers(text: string, tools: unknown): string {
  const members = text.slice(1, -1).trim();
  if (!Array.isArray(tools) || tools.every(isFramed)) return members;
  return `${members},"tools":${framedTools(tools)}`;
}

/** The JSON text of tools in OpenAI's form. */
export function framedTools(tools: readonly unknown[]): string {
  return jsonText(tools.map((tool) => (isFramed(tool) ? tool : { type: "function", function: tool })));
}

function isFramed(tool: unknown): tool is { readonly function: Readonly<Record<string, unknown>> } {
  return isObject(tool) && isObject(tool["function"]);
}

/** Tools in either form. What is no tool stays as it is: the check of the conversation names it. */
function toTools(tools: unknown): readonly Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return tools as never;
  return tools.map((tool: unknown) => {
    if (!isFramed(tool)) return tool as Tool;
    const { name, description, parameters } = tool.function;
    return present<Tool>({ name, description, parameters });
  });
}

/** Messages as the library has them, from those or from OpenAI's. What is no message stays as it is: the check of the conversation names it. */
function toMessages(messages: unknown): readonly ChatMessage[] {
  if (messages === undefined) return [];
  if (!Array.isArray(messages)) return messages as never;
  return messages.map((message: unknown) => {
    if (!isObject(message)) return message as ChatMessage;
    const { role, content, name } = message;
    const reasoning = message["reasoning_content"] ?? message["reasoning"];
    const calls = message["tool_calls"] ?? message["toolCalls"];
    const toolCalls = Array.isArray(calls) && calls.length > 0 ? calls.map(getCall) : undefined;
    const toolCallId = message["tool_call_id"] ?? message["toolCallId"];
    return present<ChatMessage>({
      role,
      content: content ?? (toolCalls === undefined ? "" : undefined),
      name,
      reasoning,
      toolCallId,
      toolCalls,
    });
  });
}

function getCall(call: unknown): ToolCall {
  if (!isObject(call)) return call as never;
  const called = isObject(call["function"]) ? call["function"] : call;
  const { name, arguments: given } = called;
  return { id: call["id"] ?? "", name, arguments: typeof given === "string" ? given : jsonText(given ?? {}) } as ToolCall;
}

/** An object of the fields that are neither undefined nor null. Their types are unchecked: the check of the conversation names what is wrong. */
function present<Shape>(fields: { readonly [Name in keyof Shape]?: unknown }): Shape {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as Shape;
}

function wrong(path: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("INPUT_INVALID", `${path} ${problem}`, {
    cause,
    remedy,
  });
}
