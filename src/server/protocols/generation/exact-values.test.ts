/** What templates are given of requests: numbers and keys as they were sent, in every protocol. */
import { expect, test } from "vitest";
import type { z } from "@hono/zod-openapi";
import { parseJson } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool } from "../../../tasks/generation/chat/messages.ts";
import { variablesJson } from "../../../tasks/generation/chat/template-variables.ts";
import { renderTemplate, parseTemplate } from "../../../templates/template.ts";
import {
  toChatOptions as anthropicOptions,
  toConversation as anthropicConversation,
  messagesRequestSchema,
} from "../anthropic/messages-request.ts";
import {
  chatRequestSchema as ollamaSchema,
  toMessages as ollamaMessages,
  toTools as ollamaTools,
} from "../ollama/generation-request.ts";
import { toMessages } from "../openai/chat-messages.ts";
import { toChatOptions, chatRequestSchema } from "../openai/chat-request.ts";
import { toConversation, toResponseOptions, responsesRequestSchema } from "../openai/responses-request.ts";
import { CallableTools } from "../openai/responses-tools.ts";

const values = '{"id": 1234567890123456789, "ratio": 1.0, "10": 1e5, "9": null, "__proto__": {"x": -0.0}}';
const parameters = `{"type": "object", "properties": {"10": {"const": 1.0}, "9": {"default": ${values}}}}`;
const text = JSON.stringify(values);

interface Prompt {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly Tool[] | undefined;
  readonly others?: Readonly<Record<string, unknown>>;
}

/** The request as a route reads it. */
function read<Schema extends z.ZodType>(body: string, schema: Schema): z.infer<Schema> {
  return schema.parse(parseJson(body));
}

/** Nothing of these requests is left out. */
const ignored = (path: readonly unknown[]): never => expect.fail(`${path.join("/")} is left out`);

const functionTool = `{"type": "function", "function": {"name": "f", "parameters": ${parameters}}}`;
const prompts: Readonly<Record<string, () => Prompt>> = {
  "chat completions": () => {
    const call = `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${text}}}`;
    const variables = `"chat_template_kwargs": {"given": ${values}}`;
    const request = read(
      `{"messages": [{"role": "assistant", "tool_calls": [${call}]}], "tools": [${functionTool}], ${variables}, "temperature": 1.0}`,
      chatRequestSchema,
    );
    const { tools, templateVariables: others = {} } = toChatOptions(request);
    return { messages: toMessages(request), tools, others };
  },
  "chat completions with an object": () => {
    const call = `{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${values}}}`;
    return { messages: toMessages(read(`{"messages": [{"role": "assistant", "tool_calls": [${call}]}]}`, chatRequestSchema)) };
  },
  responses: () => {
    const call = `{"type": "function_call", "call_id": "a", "name": "f", "arguments": ${text}}`;
    const tool = `{"type": "function", "name": "f", "parameters": ${parameters}}`;
    const request = read(`{"input": [${call}], "tools": [${tool}]}`, responsesRequestSchema);
    const tools = new CallableTools(request.tools ?? []);
    return { messages: toConversation(request, tools, ignored), tools: toResponseOptions(request, tools, ignored).tools };
  },
  messages: () => {
    const block = `{"type": "tool_use", "id": "a", "name": "f", "input": ${values}}`;
    const tool = `{"name": "f", "input_schema": ${parameters}}`;
    const request = read(
      `{"max_tokens": 1, "messages": [{"role": "assistant", "content": [${block}]}], "tools": [${tool}]}`,
      messagesRequestSchema,
    );
    return { messages: anthropicConversation(request, ignored), tools: anthropicOptions(request, ignored).tools };
  },
  ollama: () => {
    const call = `{"function": {"name": "f", "arguments": ${values}}}`;
    const request = read(
      `{"messages": [{"role": "assistant", "content": "", "tool_calls": [${call}]}], "tools": [${functionTool}]}`,
      ollamaSchema,
    );
    return { messages: ollamaMessages(request.messages ?? []), tools: ollamaTools(request.tools).tools };
  },
};

test.each(Object.entries(prompts))("%s: templates print arguments and schemas as Python would", (_name, promptOf) => {
  const { messages, tools = [], others = {} } = promptOf();
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
