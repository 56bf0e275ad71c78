/** A conversation as the variables of a chat template: JSON text, in which tool arguments keep their numbers and the order of their keys. */
import type { ChatMessage, Tool } from "./messages.ts";

/** What a template is given. */
export interface TemplateVariables {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Special tokens and further variables by name. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** The variables, with messages and tools as templates of Hugging Face read them. */
export function variablesJson({ messages, tools, others }: TemplateVariables): string {
  const members = Object.entries(others).flatMap(([name, value]) => {
    const json = JSON.stringify(value) as string | undefined; // undefined for what JSON has not
    return json === undefined ? [] : [`${JSON.stringify(name)}:${json}`];
  });
  // transformers gives None where there are none.
  members.push(`"tools":${tools.length === 0 ? "null" : JSON.stringify(tools.map(toolVariable))}`);
  if (others["documents"] === undefined) members.push('"documents":null');
  members.push(`"messages":[${messages.map(messageJson).join(",")}]`);
  return `{${members.join(",")}}`;
}

function toolVariable({ name, description = "", parameters = { type: "object", properties: {} } }: Tool): object {
  return { type: "function", function: { name, description, parameters } };
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
  // The arguments are JSON text of an object, as was checked: JSON.parse would change numbers beyond 2^53, 1.0 and the order of keys such as "10".
  const calls = toolCalls.map((call) => {
    const { id, name: tool, arguments: written } = call;
    return `{"id":${JSON.stringify(id)},"type":"function","function":{"name":${JSON.stringify(tool)},"arguments":${written}}}`;
  });
  return `${json.slice(0, -1)},"tool_calls":[${calls.join(",")}]}`;
}
