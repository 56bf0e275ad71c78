/** Requests of Ollama's routes that generate text. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool } from "../../../tasks/generation/chat/messages.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generation-options.ts";
import { isObject, listOf, members, name, requestObject } from "../../http/field-schemas.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { seedOf } from "../generation/seed.ts";
import { ollamaFields } from "./request-fields.ts";

/** Fields that both routes have. */
interface SharedFields {
  readonly model?: string;
  readonly stream?: boolean;
  readonly format?: unknown;
  readonly think?: boolean | string;
  readonly options?: unknown;
  readonly keep_alive?: number | string | null;
  readonly logprobs?: boolean;
}

/** A validated request of /api/chat. */
export interface OllamaChatRequest extends SharedFields {
  readonly messages?: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

/** A validated request of /api/generate. */
export interface OllamaGenerateRequest extends SharedFields {
  readonly prompt?: string;
  readonly system?: string;
  readonly suffix?: string;
  readonly template?: string;
  readonly raw?: boolean;
  readonly images?: readonly string[];
  readonly context?: readonly number[];
}

const sharedFields = {
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  stream: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the answer is sent as lines of JSON while it is generated. Default: true" }),
  format: z.unknown().optional().openapi({ description: '"json", or a JSON Schema: what the text must be' }),
  think: z
    .union([z.boolean(), z.string()])
    .optional()
    .openapi({ description: "Whether the model thinks, where its chat template can turn that off" }),
  logprobs: z.boolean().optional().openapi({ description: "Only false" }),
  truncate: z.literal(false).optional(),
  ...ollamaFields,
};

/** Schema of /api/chat. */
export const chatRequestSchema: z.ZodType<OllamaChatRequest> = requestObject({
  ...sharedFields,
  messages: listOf(members()).optional().openapi({ description: "Default: none, which loads the model only" }),
  tools: listOf(members()).optional(),
}).openapi("OllamaChatRequest") as never;

/** Schema of /api/generate. */
export const generateRequestSchema: z.ZodType<OllamaGenerateRequest> = requestObject({
  ...sharedFields,
  prompt: z.string().optional().openapi({ description: "Default: none, which loads the model only" }),
  system: z.string().optional(),
  raw: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the prompt is given to the model as it is, without its chat template" }),
  suffix: z.string().optional().openapi({ description: "Not built yet" }),
  template: z.string().optional().openapi({ description: "Not built yet" }),
  images: listOf(z.string()).optional().openapi({ description: "Not built yet" }),
  context: listOf(z.int()).optional().openapi({ description: "Refused: send the conversation to /api/chat" }),
}).openapi("OllamaGenerateRequest") as never;

/** The conversation of a request. */
export function messagesOf(messages: readonly Readonly<Record<string, unknown>>[]): readonly ChatMessage[] {
  return messages.map((message, index) => {
    const path = `messages.${index}`;
    const { role, content = "", thinking, tool_calls: calls, tool_name: toolName, images } = message;
    if (Array.isArray(images) && images.length > 0) throw unsupportedField(`${path}.images`, "reading images", "send text");
    if (role !== "system" && role !== "user" && role !== "assistant" && role !== "tool")
      throw invalidField(`${path}.role`, `is ${JSON.stringify(role)}, and must be system, user, assistant or tool`);
    if (typeof content !== "string") throw invalidField(`${path}.content`, "must be a text");
    const toolCalls = Array.isArray(calls)
      ? calls.map((call: unknown, place) => callOf(call, `${path}.tool_calls.${place}`))
      : [];
    return {
      role,
      content,
      ...(role === "assistant" && typeof thinking === "string" ? { reasoning: thinking } : {}),
      ...(typeof toolName === "string" ? { name: toolName } : {}),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
  });
}

/** The tools of a request. */
export function toolsOf(tools: readonly Readonly<Record<string, unknown>>[] = []): Pick<ChatRequest, "tools"> {
  const list = tools.map(({ function: given }, index): Tool => {
    const { name: called, description, parameters } = isObject(given) ? given : {};
    if (typeof called !== "string") throw invalidField(`tools.${index}`, "must be a function with a name");
    return {
      name: called,
      ...(typeof description === "string" ? { description } : {}),
      ...(isObject(parameters) ? { parameters } : {}),
    };
  });
  return list.length === 0 ? {} : { tools: list };
}

/** What `think` sets in the chat template. */
export function thinkingOf({ think }: SharedFields): Pick<ChatRequest, "templateVariables"> {
  if (think === undefined) return {};
  const effort = typeof think === "string" ? { reasoning_effort: think } : {};
  return { templateVariables: { enable_thinking: think !== false, ...effort } };
}

/** Options of sampling. Throws INPUT_INVALID for mirostat, and for what else changes the text and is not built. */
export function samplingOf({ options, format, logprobs }: SharedFields): GenerationOptions {
  if (logprobs === true) throw unsupportedField("logprobs", "log probabilities in Ollama's form", "use /v1/chat/completions");
  const given: Readonly<Record<string, unknown>> = isObject(options) ? options : {};
  if (Number(given["mirostat"] ?? 0) !== 0) throw unsupportedField("options.mirostat", "mirostat", "leave it out");
  const number = (field: string): number | undefined => {
    const value = given[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number") return value;
    throw invalidField(`options.${field}`, "must be a number");
  };
  const limit = number("num_predict") ?? -1;
  const topP = number("top_p");
  const { stop } = given;
  return {
    ...formatOf(format),
    ...omitUndefined({
      temperature: topP === 0 ? 0 : number("temperature"),
      topP: topP === 0 ? undefined : topP,
      topK: number("top_k"),
      minP: number("min_p"),
      typicalP: number("typical_p"),
      seed: seedOf(number("seed")),
      repetitionPenalty: number("repeat_penalty"),
      presencePenalty: number("presence_penalty"),
      frequencyPenalty: number("frequency_penalty"),
      maxNewTokens: limit > 0 ? limit : undefined,
    }),
    ...(typeof stop === "string" && stop !== "" ? { stop: [stop] } : Array.isArray(stop) ? { stop: stop as string[] } : {}),
  };
}

function formatOf(format: unknown): Pick<GenerationOptions, "constraint"> {
  if (format === undefined || format === "") return {};
  if (format === "json") return { constraint: { type: "json", value: "object" } };
  if (isObject(format)) return { constraint: { type: "schema", schema: format } };
  throw invalidField("format", 'must be "json" or a JSON Schema');
}

function callOf(call: unknown, path: string): { readonly id: string; readonly name: string; readonly arguments: string } {
  const { function: given, id } = isObject(call) ? call : {};
  const { name: called, arguments: values = {} } = isObject(given) ? given : {};
  if (typeof called !== "string") throw invalidField(path, "must be a function with a name");
  return {
    id: typeof id === "string" ? id : "",
    name: called,
    arguments: typeof values === "string" ? values : jsonText(values),
  };
}
