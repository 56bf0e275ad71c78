/** Requests of OpenAI's responses. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest } from "../../../api/task-requests.ts";
import type { ChatMessage } from "../../../tasks/generation/chat/messages.ts";
import { conversation, isObject, listOf, members, name, requestObject } from "../../http/field-schemas.ts";
import { responseFormat } from "../generation/constraint-fields.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { harmlessFields, textOfContent, toolsOf } from "./chat-request.ts";

/** A tool of a request: a function, with its fields beside the type. */
export interface ResponseTool {
  readonly type: string;
  readonly name?: string;
  readonly description?: string | null;
  readonly parameters?: unknown;
}

/** A validated request. */
export interface ResponsesRequest {
  readonly model?: string;
  readonly input: string | readonly Readonly<Record<string, unknown>>[];
  readonly instructions?: string;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly tools?: readonly ResponseTool[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean;
  readonly stream?: boolean;
  readonly text?: { readonly format?: unknown };
  readonly reasoning?: { readonly effort?: string | null };
  readonly previous_response_id?: string;
  readonly conversation?: unknown;
  readonly background?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly top_logprobs?: number;
}

/** Schema of the request. */
export const responsesRequestSchema: z.ZodType<ResponsesRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  input: z.union([z.string(), conversation(members())]),
  instructions: z.string().optional(),
  max_output_tokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_logprobs: z.int().min(0).max(20).optional().openapi({ description: "Only 0" }),
  tools: listOf(z.looseObject({ type: z.string(), name: z.string().optional() })).optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().optional(),
  stream_options: members().optional(),
  text: z.looseObject({ format: z.unknown().optional() }).optional(),
  reasoning: z.looseObject({ effort: z.string().nullable().optional() }).optional(),
  previous_response_id: z.string().optional().openapi({ description: "Refused: nothing is stored" }),
  conversation: z.unknown().optional().openapi({ description: "Refused: nothing is stored" }),
  background: z.boolean().optional().openapi({ description: "Only false" }),
  truncation: z.enum(["disabled"]).optional(),
  include: listOf(z.string()).optional().openapi({ description: "Accepted and ignored" }),
  ...harmlessFields,
}).openapi("ResponsesRequest") as never;

/** The conversation of a request. Throws INPUT_INVALID for items that are no text, call or result. */
export function conversationOf({ input, instructions }: ResponsesRequest): readonly ChatMessage[] {
  const system = instructions === undefined ? [] : [{ role: "system" as const, content: instructions }];
  if (typeof input === "string") return [...system, { role: "user", content: input }];
  const messages: ChatMessage[] = [...system];
  let reasoning = "";
  for (const [index, item] of input.entries()) {
    const path = `input.${index}`;
    const { type = "message" } = item;
    if (type === "message") messages.push(withReasoning(messageOf(item, path), reasoning));
    else if (type === "function_call") addCall(messages, item, path, reasoning);
    else if (type === "function_call_output") {
      messages.push({
        role: "tool",
        toolCallId: callId(item["call_id"], path),
        content: outputOf(item["output"], `${path}.output`),
      });
    } else if (type !== "reasoning") throw invalidField(`${path}.type`, `items of type ${JSON.stringify(type)} are not read`);
    reasoning = type === "reasoning" ? reasoningOf(item) : "";
  }
  return messages;
}

/** The options of `chat` that a request asks for. Throws INPUT_INVALID for what is not built. */
export function responseOptionsOf(request: ResponsesRequest): Omit<ChatRequest, "model"> {
  const { text, reasoning, top_p: topP, temperature, max_output_tokens: maxNewTokens } = request;
  const constraint = responseFormat(text?.format, "text.format");
  for (const field of ["previous_response_id", "conversation"] as const) {
    if (request[field] !== undefined)
      throw unsupportedField(field, "storing conversations", "send the whole conversation in input");
  }
  if (request.background === true) throw unsupportedField("background", "answering in the background", "leave it out");
  if ((request.top_logprobs ?? 0) > 0)
    throw unsupportedField("top_logprobs", "log probabilities of responses", "use /v1/chat/completions");
  const other = request.tools?.findIndex(({ type }) => type !== "function") ?? -1;
  if (other !== -1)
    throw unsupportedField(`tools.${other}`, `the tool ${JSON.stringify(request.tools?.[other]?.type)}`, "give functions alone");
  const tools = request.tools?.map(({ name: called = "", description, parameters }) => ({
    type: "function" as const,
    function: { name: called, description: description ?? undefined, parameters },
  }));
  const effort = reasoning?.effort ?? undefined;
  return {
    ...(constraint === undefined ? {} : { constraint }),
    ...toolsOf(tools, request.tool_choice),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : topP === 0 ? { temperature: 0 } : { topP }),
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(effort === undefined ? {} : { templateVariables: { reasoning_effort: effort, enable_thinking: effort !== "none" } }),
  };
}

function messageOf(item: Readonly<Record<string, unknown>>, path: string): ChatMessage {
  const { role, content } = item;
  if (role !== "system" && role !== "developer" && role !== "user" && role !== "assistant")
    throw invalidField(`${path}.role`, `is ${JSON.stringify(role)}, and must be system, developer, user or assistant`);
  return { role, content: outputOf(content, `${path}.content`) };
}

function withReasoning(message: ChatMessage, reasoning: string): ChatMessage {
  return reasoning !== "" && message.role === "assistant" ? { ...message, reasoning } : message;
}

/** Adds a call to the message of the assistant before it, which is made if there is none. */
function addCall(messages: ChatMessage[], item: Readonly<Record<string, unknown>>, path: string, reasoning: string): void {
  const { name: called, arguments: given } = item;
  if (typeof called !== "string" || typeof given !== "string")
    throw invalidField(path, "a call needs name and arguments, both texts");
  const call = { id: callId(item["call_id"], path), name: called, arguments: given === "" ? "{}" : given };
  const last = messages.at(-1);
  if (last?.role === "assistant") messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), call] };
  else messages.push(withReasoning({ role: "assistant", content: "", toolCalls: [call] }, reasoning));
}

function callId(id: unknown, path: string): string {
  if (typeof id === "string") return id;
  throw invalidField(`${path}.call_id`, "must be a text");
}

function reasoningOf({ content, summary }: Readonly<Record<string, unknown>>): string {
  const parts: readonly unknown[] = [...(Array.isArray(content) ? content : []), ...(Array.isArray(summary) ? summary : [])];
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

function outputOf(content: unknown, path: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidField(path, "must be a text or a list of parts");
  const parts = content.map((part: unknown) => (isObject(part) ? part : {}));
  return textOfContent(
    parts.map((part) => ({ ...part, type: String(part["type"]) })),
    path,
  );
}
