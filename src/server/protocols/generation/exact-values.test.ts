/** What templates are given of requests: numbers and keys as they were sent, in every protocol. */
import { expect, test } from "vitest";
import { parseJson } from "../../../formats/json/exact-json.ts";
import { variablesJson } from "../../../tasks/generation/chat/template-variables.ts";
import { parseTemplate, renderTemplate } from "../../../templates/template.ts";
import type { RequestForm } from "../../http/routes/request-form.ts";
import { messagesForm } from "../anthropic/messages-request.ts";
import { ollamaChatForm as ollamaForm } from "../ollama/generation-request.ts";
import { chatForm } from "../openai/chat-request.ts";
import { responsesForm } from "../openai/responses-request.ts";
import type { ChatCall } from "./chat-call.ts";

const values = '{"id": 1234567890123456789, "ratio": 1.0, "10": 1e5, "9": null, "__proto__": {"x": -0.0}}';
const parameters = `{"type": "object", "properties": {"10": {"const": 1.0}, "9": {"default": ${values}}}}`;
const text = JSON.stringify(values);

/** The call that a route makes of a request, of which nothing is left out. */
function read<Call>(body: string, { schema, read }: RequestForm<Call>): Call {
  return read(schema.parse(parseJson(body)), (path) => expect.fail(`${path.join("/")} is left out`));
}

const functionTool = `{"type": "function", "function": {"name": "f", "parameters": ${parameters}}}`;
const prompts: Readonly<Record<string, () => ChatCall>> = {
  "chat completions": () => {
    const call = `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${text}}}`;
    const variables = `"chat_template_kwargs": {"given": ${values}}`;
    return read(
      `{"messages": [{"role": "assistant", "tool_calls": [${call}]}], "tools": [${functionTool}], ${variables}, "temperature": 1.0}`,
      chatForm,
    );
  },
  "chat completions with an object": () => {
    const call = `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${values}}}`;
    return read(`{"messages": [{"role": "assistant", "tool_calls": [${call}]}]}`, chatForm);
  },
  responses: () => {
    const call = `{"type": "function_call", "call_id": "a", "name": "f", "arguments": ${text}}`;
    const tool = `{"type": "function", "name": "f", "parameters": ${parameters}}`;
    return read(`{"input": [${call}], "tools": [${tool}]}`, responsesForm);
  },
  messages: () => {
    const block = `{"type": "tool_use", "id": "a", "name": "f", "input": ${values}}`;
    const tool = `{"name": "f", "input_schema": ${parameters}}`;
    return read(
      `{"max_tokens": 1, "messages": [{"role": "assistant", "content": [${block}]}], "tools": [${tool}]}`,
      messagesForm,
    );
  },
  ollama: () => {
    const call = `{"function": {"name": "f", "arguments": ${values}}}`;
    return read(
      `{"messages": [{"role": "assistant", "content": "", "tool_calls": [${call}]}], "tools": [${functionTool}]}`,
      ollamaForm,
    );
  },
};

test.each(Object.entries(prompts))("%s: templates print arguments and schemas as Python would", (_name, promptOf) => {
  const { messages, options } = promptOf();
  const { tools = [], templateVariables: others = {} } = options;
  const template = parseTemplate(
    "{{ messages[0].tool_calls[0].function.arguments | tojson }}\n{% for tool in tools or [] %}{{ tool.function.parameters | tojson }}{% endfor %}|\n{{ given | tojson if given }}.",
  );
  const printed = renderTemplate(template, variablesJson({ messages, tools, others }), { now: new Date(0) });
  const python = values.replace("1e5", "100000.0");
  expect(printed.split("\n")).toEqual([
    python,
    `${tools.length === 0 ? "" : parameters.replace("1e5", "100000.0")}|`,
    others["given"] === undefined ? "." : `${python}.`,
  ]);
});
