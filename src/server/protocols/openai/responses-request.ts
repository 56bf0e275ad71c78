/** Requests of OpenAI's responses. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import type { ChatMessage, ToolCall } from "../../../tasks/generation/chat/messages.ts";
import { conversation, listField, members, modelField, requestObject } from "../../http/field-schemas.ts";
import type { IgnorePart } from "../../http/fields/take-fields.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { ChatCall } from "../generation/chat-call.ts";
import { responseFormat, toToolChoice } from "../generation/constraint-fields.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { readSampling } from "../generation/sampling.ts";
import { thinkingFields, thinkingVariables } from "../generation/thinking-fields.ts";
import { chosenToolList } from "../generation/tool-lists.ts";
import { contentFrom } from "./chat-messages.ts";
import { harmlessFields, streamOptions, tokenLimit } from "./chat-request.ts";
import { CallableTools, callOfItem, responseTools } from "./responses-tools.ts";

const schema = requestObject({
  model: modelField,
  input: z.union([z.string(), conversation(members())]),
  instructions: z.string().optional(),
  max_output_tokens: tokenLimit.optional(),
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_logprobs: z.int().min(0).max(20).optional().openapi({ description: "Only 0" }),
  tools: responseTools.optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().optional(),
  stream_options: streamOptions.optional(),
  text: requestObject({ format: z.unknown().optional(), verbosity: z.string().optional() }).optional(),
  reasoning: requestObject({
    effort: z.string().optional(),
    summary: z.string().optional(),
    generate_summary: z.string().optional(),
  }).optional(),
  prompt: z.unknown().optional().openapi({ description: "Refused: nothing is stored" }),
  previous_response_id: z.string().optional().openapi({ description: "Refused: nothing is stored" }),
  conversation: z.unknown().optional().openapi({ description: "Refused: nothing is stored" }),
  background: z.boolean().optional().openapi({ description: "Only false" }),
  truncation: z
    .enum(["disabled", "auto"])
    .optional()
    .openapi({ description: "`auto` has no effect: what is too long is refused" }),
  include: listField(z.string()).optional().openapi({ description: "Accepted and ignored" }),
  chat_template_kwargs: thinkingFields.chat_template_kwargs,
  ...harmlessFields,
}).openapi("ResponsesRequest");

type Request = z.infer<typeof schema>;

/** Fields of a request that the response repeats. */
export interface RepeatedFields {
  readonly instructions?: string | undefined;
  readonly max_output_tokens?: number | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly reasoning?: { readonly effort?: string | undefined } | undefined;
  readonly temperature?: number | undefined;
  readonly tool_choice?: unknown;
  readonly top_p?: number | undefined;
  readonly metadata?: unknown;
}

/** A request for a response. */
export interface ResponsesCall extends ChatCall {
  readonly tools: CallableTools;
  readonly repeated: RepeatedFields;
}

/** Requests for a response. Parts without effect are given to `ignore`. */
export const responsesForm: RequestForm<ResponsesCall> = requestForm(schema, (request, ignore) => {
  const tools = new CallableTools(request.tools ?? []);
  const messages = toConversation(request, tools, ignore);
  const options = toChatOptions(request, tools, ignore);
  return { model: request.model, messages, options, isStreamed: request.stream ?? false, tools, repeated: request };
});

/** The conversation of a request. Items about tools that only a provider's server runs are left out. Throws INPUT_INVALID for what is neither. */
function toConversation({ input, instructions }: Request, tools: CallableTools, ignore: IgnorePart): readonly ChatMessage[] {
  const system = instructions === undefined ? [] : [{ role: "system" as const, content: instructions }];
  if (typeof input === "string") return [...system, { role: "user", content: input }];
  const messages: ChatMessage[] = [...system];
  let reasoning = "";
  for (const [index, item] of input.entries()) {
    const path = `input.${index}`;
    const { type = "message", call_id: id } = item;
    const call = typeof id === "string" ? callOfItem(item, tools) : undefined;
    if (type === "message") messages.push(withReasoning(getMessage(item, path), reasoning));
    else if (call !== undefined && typeof id === "string") addCall(messages, { id, ...call }, reasoning);
    else if (typeof type === "string" && type.endsWith("_output") && typeof id === "string")
      messages.push({ role: "tool", toolCallId: id, content: getOutput(item["output"] ?? "", `${path}.output`) });
    else if (type === "item_reference")
      throw unsupportedField(path, "an item that is stored", "send the whole conversation in input");
    else if (type === "function_call" || type === "function_call_output" || typeof type !== "string")
      throw invalidField(path, "must be a message, a call with call_id and name, or the output of a call with call_id");
    else if (type !== "reasoning") ignore(["input", index], `items of type ${JSON.stringify(type.slice(0, 80))} are not read`);
    if (type === "reasoning") reasoning = getReasoning(item);
    else if (type === "message" || call !== undefined) reasoning = "";
  }
  return messages;
}

/** The options of `chat` that a request asks for. Throws INPUT_INVALID for what is not built. */
function toChatOptions(request: Request, { tools }: CallableTools, ignore: IgnorePart): ChatCall["options"] {
  const { text, top_p: topP, temperature, max_output_tokens: maxNewTokens } = request;
  const constraint = responseFormat(text?.format, "text.format");
  for (const field of ["previous_response_id", "conversation", "prompt"] as const) {
    if (request[field] !== undefined)
      throw unsupportedField(field, "storing conversations and prompts", "send the whole conversation in input");
  }
  if (request.background === true) throw unsupportedField("background", "answering in the background", "leave it out");
  if ((request.top_logprobs ?? 0) > 0)
    throw unsupportedField("top_logprobs", "log probabilities of responses", "use /v1/chat/completions");
  if (request.truncation === "auto") ignore(["truncation"], "a conversation that is too long is not shortened");
  return {
    ...omitUndefined({ constraint }),
    ...chosenToolList(tools, toToolChoice(request.tool_choice)),
    ...readSampling({ temperature, topP, maxNewTokens }),
    ...thinkingVariables({ reasoning: request.reasoning, chat_template_kwargs: request.chat_template_kwargs }),
  };
}

function getMessage(item: Readonly<Record<string, unknown>>, path: string): ChatMessage {
  const { role, content } = item;
  if (role !== "system" && role !== "developer" && role !== "user" && role !== "assistant")
    throw invalidField(`${path}.role`, `is ${JSON.stringify(role)}, and must be system, developer, user or assistant`);
  return { role, content: getOutput(content, `${path}.content`) };
}

function withReasoning(message: ChatMessage, reasoning: string): ChatMessage {
  return reasoning !== "" && message.role === "assistant" ? { ...message, reasoning } : message;
}

/** Adds a call to the message of the assistant before it, which is made if there is none. */
function addCall(messages: ChatMessage[], call: ToolCall, reasoning: string): void {
  const last = messages.at(-1);
  if (last?.role === "assistant") messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
  else messages.push(withReasoning({ role: "assistant", content: "", toolCalls: [call] }, reasoning));
}

function getReasoning({ content, summary }: Readonly<Record<string, unknown>>): string {
  const parts: readonly unknown[] = [...(Array.isArray(content) ? content : []), ...(Array.isArray(summary) ? summary : [])];
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

function getOutput(content: unknown, path: string): ChatMessage["content"] & {} {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) throw invalidField(path, "must be a text or a list of parts");
  const parts = content.map((part: unknown) => (isObject(part) ? part : {}));
  return contentFrom(
    parts.map((part) => ({ ...part, type: String(part["type"]) })),
    path,
  );
}
