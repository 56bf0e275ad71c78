/** Reads calls of tools from what a model wrote. */
import { isJsonObject, jsonText, parseExactJson } from "../../../formats/json/exact-json.ts";
import type { Tool, ToolCall } from "./messages.ts";

/** A call without its id. */
export type CallText = Pick<ToolCall, "name" | "arguments">;

/** Calls written as JSON: an object with name and arguments (or parameters), or a list of these. Undefined if the text is nothing like it. */
export function callsFromJson(text: string): readonly CallText[] | undefined {
  const value = parsed(text.trim());
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const calls = list.map(callFrom);
  return list.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

/** Several JSON calls, one after another, parted by white space or semicolons. */
export function callsFromJsonLines(text: string): readonly CallText[] | undefined {
  const whole = callsFromJson(text);
  if (whole !== undefined) return whole;
  const parts = text.split(/;\s*|\n+/).filter((part) => part.trim() !== "");
  const calls = parts.map(callsFromJson);
  return parts.length > 1 && calls.every((call) => call !== undefined) ? calls.flat() : undefined;
}

/** A call written as `<function=NAME><parameter=KEY>VALUE</parameter></function>`. Values are texts unless the tool's schema has another type. */
export function callsFromXml(text: string, tools: readonly Tool[]): readonly CallText[] | undefined {
  const functions = [...text.matchAll(/<function=([^>\s]+)>(.*?)(?:<\/function>|$)/gs)];
  if (functions.length === 0) return undefined;
  return functions.map(([, name = "", body = ""]) => {
    const properties = (tools.find((tool) => tool.name === name)?.parameters?.["properties"] ?? {}) as Readonly<
      Record<string, unknown>
    >;
    const parameters = [...body.matchAll(/<parameter=([^>\s]+)>\n?(.*?)\n?(?:<\/parameter>|$)/gs)];
    const entries = parameters.map(([, key = "", value = ""]) => [key, typedValue(value, properties[key])] as const);
    return { name, arguments: membersText(entries) };
  });
}

/** Mistral's calls: `[{...}, ...]`, or `name[ARGS]{...}` each after [TOOL_CALLS]. */
export function callsFromMistral(text: string, open: string): readonly CallText[] | undefined {
  const calls = text
    .split(open)
    .filter((part) => part.trim() !== "")
    .map((part) => callsFromJson(part) ?? namedCall(part.trim()));
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls.flat() : undefined;
}

function namedCall(text: string): readonly CallText[] | undefined {
  const [, name, json = ""] = /^([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(\{.*)$/s.exec(text) ?? [];
  const value = parsed(json);
  return name === undefined || !isJsonObject(value) ? undefined : [{ name, arguments: jsonText(value) }];
}

/** An object in the order of its entries. Of several with one name the last one counts. */
function membersText(entries: readonly (readonly [string, unknown])[]): string {
  const members = [...new Map(entries)].map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
  return `{${members.join(",")}}`;
}

function callFrom(value: unknown): CallText | undefined {
  if (!isJsonObject(value)) return undefined;
  const inner = isJsonObject(value["function"]) ? value["function"] : value;
  const { name, arguments: given, parameters = {} } = inner;
  const written = given ?? parameters;
  const values = typeof written === "string" ? parsed(written) : written;
  return typeof name === "string" && isJsonObject(values) ? { name, arguments: jsonText(values) } : undefined;
}

function typedValue(text: string, schema: unknown): unknown {
  const type = isJsonObject(schema) ? schema["type"] : "string";
  if (type === "string" || type === undefined) return text;
  const value = parsed(text);
  return value === undefined ? text : value;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
