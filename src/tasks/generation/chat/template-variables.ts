/** A conversation as the variables of a chat template: JSON text, in which tool arguments keep their numbers and the order of their keys. */
import { omitUndefined } from "../../../contract/checked.ts";
import { completedObject } from "../../../formats/json/complete-json.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool } from "./messages.ts";

/** Variables of a template. */
export interface TemplateVariables {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Special tokens and further variables by name. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The variables, with messages and tools as templates of Hugging Face read them. */
export function variablesJson({ messages, tools, others }: TemplateVariables): string {
  const members = Object.entries(others).flatMap(([name, value]) => {
    const hasNone = value === undefined || typeof value === "function" || typeof value === "symbol"; // JSON has not
    return hasNone ? [] : [`${JSON.stringify(name)}:${jsonText(value)}`];
  });
  // transformers gives None where there are none.
  members.push(`"tools":${tools.length === 0 ? "null" : jsonText(tools.map(toolVariable))}`);
  if (others["documents"] === undefined) members.push('"documents":null');
  members.push(`"messages":[${messages.map(messageJson).join(",")}]`);
  return `{${members.join(",")}}`;
}

function toolVariable({ name, description, parameters = { type: "object", properties: {} } }: Tool): object {
  return { type: "function", function: { name, ...omitUndefined({ description }), parameters } };
}

function messageJson({ role, content = "", reasoning, toolCalls = [], toolCallId, name }: ChatMessage): string {
  const json = JSON.stringify({
    role: role === "developer" ? "system" : role,
    content: typeof content === "string" ? content : content.map(({ text }) => ({ type: "text", text })),
    reasoning_content: reasoning,
    tool_call_id: toolCallId,
    name,
  });
  if (toolCalls.length === 0) return json;
  const calls = toolCalls.map((call) => {
    const { id, name: tool, arguments: written } = call;
    return `{"id":${JSON.stringify(id)},"type":"function","function":{"name":${JSON.stringify(tool)},"arguments":${argumentsJson(written)}}}`;
  });
  return `${json.slice(0, -1)},"tool_calls":[${calls.join(",")}]}`;
}

/**
 * The arguments of a call as a template reads them: as they are written, since JSON.parse would change numbers beyond 2^53, 1.0 and the order of keys such as "10". Arguments that
 * were cut are completed, so that templates find an object; others that are no JSON are a text.
 */
function argumentsJson(written: string): string {
  if (written.trim() === "") return "{}";
  try {
    return JSON.parse(written) === null ? "{}" : written;
  } catch {
    return completedObject(written) ?? JSON.stringify(written);
  }
}
