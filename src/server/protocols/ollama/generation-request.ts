/** Requests of Ollama's routes that generate text. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool } from "../../../tasks/generation/chat/messages.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import { conversation, listField, members, modelField, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { ChatCall } from "../generation/chat-call.ts";
import { invalidField, unreadPart, unsupportedField } from "../generation/request-errors.ts";
import { readSampling } from "../generation/sampling.ts";
import { ollamaFields, withoutLatest } from "./request-fields.ts";

const besideField = z.number().optional().openapi({ description: "As the option of this name, which counts before it" });
const limitField = z.number().optional().openapi({ description: "As options.num_predict, which counts before it" });
/** Options that some clients write beside `options`. */
const optionsBeside = {
  temperature: besideField,
  top_p: besideField,
  top_k: besideField,
  seed: besideField,
  stop: z
    .union([z.string(), listField(z.string())])
    .optional()
    .openapi({ description: "As options.stop, which counts before it" }),
  max_tokens: limitField,
  max_output_tokens: limitField,
};

const sharedFields = {
  model: modelField,
  stream: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the answer is sent as lines of JSON while it is generated. Default: true" }),
  format: z.unknown().optional().openapi({ description: '"json", or a JSON Schema: what the text must be' }),
  think: z
    .union([z.boolean(), z.string()])
    .optional()
    .openapi({ description: "Whether the model thinks, where its chat template can turn that off" }),
  logprobs: z.boolean().optional().openapi({ description: "Whether each token is given with its log probability" }),
  top_logprobs: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .openapi({ description: "With `logprobs`: number of most probable tokens in the place of each. Default: 0" }),
  ...optionsBeside,
  ...ollamaFields,
};

const chatSchema = requestObject({
  ...sharedFields,
  messages: conversation(members(), 0).optional().openapi({ description: "Default: none, which loads the model only" }),
  tools: listField(members()).optional(),
}).openapi("OllamaChatRequest");

const generateSchema = requestObject({
  ...sharedFields,
  prompt: z.string().optional().openapi({ description: "Default: none, which loads the model only" }),
  system: z.string().optional(),
  raw: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the prompt is given to the model as it is, without its chat template" }),
  suffix: z
    .string()
    .optional()
    .openapi({ description: "Text that follows what is generated, for models with tokens for filling in the middle" }),
  template: z.string().optional().openapi({ description: "Not built: templates of Ollama are no templates of models" }),
  images: listField(z.string()).optional().openapi({ description: "Refused: no engine here takes pictures in conversations" }),
  context: tokenIds()
    .optional()
    .openapi({ description: "Tokens of a conversation, as the last answer of this route ended with; the prompt continues it" }),
}).openapi("OllamaGenerateRequest");

type ChatFields = z.infer<typeof chatSchema>;
type SharedFields = Omit<ChatFields, "messages" | "tools">;

/** What both requests have. */
interface SharedCall extends Pick<ChatCall, "model" | "isStreamed" | "keepAlive" | "showsTokens"> {
  /** The model's name as the client wrote it, which the answer repeats. */
  readonly written: string | undefined;
}

/** A request of /api/chat. Without messages it only loads the model, or unloads it. */
export interface OllamaChatCall extends ChatCall, SharedCall {}

/** A request of /api/generate. Without a prompt and a suffix it only loads the model, or unloads it. */
export interface OllamaGenerateCall extends SharedCall {
  readonly prompt: string;
  readonly suffix: string;
  readonly system: string;
  /** Whether the prompt is given to the model without its chat template. */
  readonly raw: boolean;
  /** Tokens before the prompt. */
  readonly context: readonly number[];
  readonly sampling: GenerationOptions;
  readonly thinking: Pick<ChatRequest, "templateVariables">;
}

/** Requests of /api/chat. */
export const ollamaChatForm: RequestForm<OllamaChatCall> = requestForm(chatSchema, (request) => {
  const { messages = [] } = request;
  const shared = toShared(request);
  if (messages.length === 0) return { ...shared, messages: [], options: {} };
  const given = toMessages(messages);
  return { ...shared, messages: given, options: { ...toSampling(request), ...toTools(request.tools), ...toThinking(request) } };
});

/** Requests of /api/generate. Throws INPUT_INVALID for what is not built. */
export const generateForm: RequestForm<OllamaGenerateCall> = requestForm(generateSchema, (request) => {
  const { prompt = "", suffix = "", system = "", raw = false, context = [], template = "", images = [] } = request;
  if (template !== "")
    throw unsupportedField("template", "templates of requests", "leave it out, or render the prompt and give raw");
  if (images.length > 0) throw unreadPart("images", "image");
  const isEmpty = prompt === "" && suffix === "";
  return {
    ...toShared(request),
    prompt,
    suffix,
    system,
    raw,
    context,
    sampling: isEmpty ? {} : toSampling(request),
    thinking: toThinking(request),
  };
});

function toShared({
  model: written,
  stream: isStreamed = true,
  keep_alive: keepAlive,
  logprobs = false,
}: SharedFields): SharedCall {
  return { written, model: withoutLatest(written), keepAlive, isStreamed, showsTokens: logprobs };
}

/** The conversation of a request. */
function toMessages(messages: readonly Readonly<Record<string, unknown>>[]): readonly ChatMessage[] {
  return messages.map((message, index) => {
    const path = `messages.${index}`;
    const { role: written, content, thinking, tool_calls: calls, tool_name: toolName, images } = message;
    const role = written === "developer" ? "system" : written;
    if (Array.isArray(images) && images.length > 0) throw unreadPart(`${path}.images`, "image");
    if (role !== "system" && role !== "user" && role !== "assistant" && role !== "tool")
      throw invalidField(`${path}.role`, `is ${JSON.stringify(role)}, and must be system, user, assistant or tool`);
    const toolCalls = Array.isArray(calls)
      ? calls.map((call: unknown, place) => getCall(call, `${path}.tool_calls.${place}`))
      : [];
    return {
      role,
      content: toText(content, `${path}.content`),
      ...(role === "assistant" && typeof thinking === "string" ? { reasoning: thinking } : {}),
      ...(typeof toolName === "string" ? { name: toolName } : {}),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
  });
}

/** A text, or a list of parts that are texts, as clients of other protocols write them. */
function toText(content: unknown, path: string): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidField(path, "must be a text");
  const texts = content.map((part: unknown, index) => {
    const text = isObject(part) ? part["text"] : part;
    if (typeof text === "string") return text;
    throw unsupportedField(`${path}.${index}`, "a part that is no text", "send text");
  });
  return texts.join("\n");
}

/** The tools of a request. */
function toTools(tools: readonly Readonly<Record<string, unknown>>[] = []): Pick<ChatRequest, "tools"> {
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
function toThinking({ think }: SharedFields): Pick<ChatRequest, "templateVariables"> {
  if (think === undefined) return {};
  const effort = typeof think === "string" ? { reasoning_effort: think } : {};
  return { templateVariables: { enable_thinking: think !== false, ...effort } };
}

/** Options of sampling. Throws INPUT_INVALID for mirostat, and for what else changes the text and is not built. */
function toSampling(request: SharedFields): GenerationOptions {
  const { format, logprobs, top_logprobs: alternatives = 0 } = request;
  const given = toOptions(request);
  if (Number(given["mirostat"] ?? 0) !== 0) throw unsupportedField("options.mirostat", "mirostat", "leave it out");
  const number = (field: string): number | undefined => {
    const value = given[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number") return value;
    throw invalidField(`options.${field}`, "must be a number");
  };
  const limit = number("num_predict") ?? -1;
  const { stop } = given;
  return {
    ...toFormat(format),
    ...(logprobs === true ? { logprobs: alternatives } : {}),
    ...readSampling({
      temperature: number("temperature"),
      topP: number("top_p"),
      topK: number("top_k"),
      minP: number("min_p"),
      typicalP: number("typical_p"),
      seed: number("seed"),
      repetitionPenalty: number("repeat_penalty"),
      presencePenalty: number("presence_penalty"),
      frequencyPenalty: number("frequency_penalty"),
      maxNewTokens: limit > 0 ? limit : undefined,
      stop: typeof stop === "string" || Array.isArray(stop) ? stop : undefined,
    }),
  };
}

/** The options, including the ones that clients write outside of `options`. */
function toOptions({ options, ...fields }: SharedFields): Readonly<Record<string, unknown>> {
  const { max_tokens: limit, max_output_tokens: outputLimit = limit, ...beside } = fields;
  const written = Object.fromEntries(Object.keys(optionsBeside).map((name) => [name, beside[name as keyof typeof beside]]));
  return { ...omitUndefined({ ...written, num_predict: outputLimit }), ...(isObject(options) ? options : {}) };
}

function toFormat(format: unknown): Pick<GenerationOptions, "constraint"> {
  if (format === undefined || format === "") return {};
  if (format === "json") return { constraint: { type: "json", value: "object" } };
  if (isObject(format)) return { constraint: { type: "schema", schema: format } };
  throw invalidField("format", 'must be "json" or a JSON Schema');
}

function getCall(call: unknown, path: string): { readonly id: string; readonly name: string; readonly arguments: string } {
  const { function: given, id } = isObject(call) ? call : {};
  const { name: called, arguments: values = {} } = isObject(given) ? given : {};
  if (typeof called !== "string") throw invalidField(path, "must be a function with a name");
  return {
    id: typeof id === "string" ? id : "",
    name: called,
    arguments: typeof values === "string" ? values : jsonText(values),
  };
}
