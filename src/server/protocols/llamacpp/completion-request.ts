/** Requests of llama.cpp's /completion and /infill. */
import { z } from "@hono/zod-openapi";
import { isObject } from "../../../contract/shapes/shape.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { isText, listField, members, modelField, oneOfFields, requestObject, textField } from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import { guided } from "../generation/constraint-fields.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { readSampling } from "../generation/sampling.ts";

/** A prompt: a text, token ids, or texts and token ids that follow one another. */
type MixedPrompt = string | readonly (string | number)[];

const shared = {
  model: modelField,
  n_predict: z
    .int()
    .min(-2)
    .optional()
    .openapi({ description: "Tokens to generate at most; negative: up to the context. Default: -1" }),
  max_tokens: z.int().min(-1).optional().openapi({ description: "The same" }),
  temperature: z.number().max(100).optional().openapi({ description: "0 and below: the most probable token" }),
  top_k: z.int().optional().openapi({ description: "0 and below: all" }),
  top_p: z.number().optional(),
  min_p: z.number().optional(),
  typical_p: z.number().optional(),
  repeat_penalty: z.number().optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  seed: z.number().optional().openapi({ description: "-1: a random one" }),
  mirostat: z.int().optional().openapi({ description: "Only 0" }),
  stop: z.union([z.string(), listField(z.string())]).optional(),
  ignore_eos: z.boolean().optional(),
  logit_bias: z
    .unknown()
    .optional()
    .openapi({ description: "Pairs of a token id or a text and a number; false: never. Or an object of numbers by id" }),
  grammar: z.string().optional().openapi({ description: "In GBNF" }),
  json_schema: z.unknown().optional(),
  n_probs: z.int().min(0).max(20).optional().openapi({ description: "Number of most probable tokens at each place. Default: 0" }),
  stream: z.boolean().optional(),
  return_tokens: z.boolean().optional().openapi({ description: "Whether token ids are given beside the text. Default: false" }),
};

const isPart = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";
const mixed = listField(z.union([z.string(), z.int().nonnegative()]), { fits: isPart });
const prompts = oneOfFields<MixedPrompt | MixedPrompt[]>("a text, token ids, or a list of these", [
  textField,
  { schema: mixed, fits: (value) => Array.isArray(value) && value.every(isPart) },
  { schema: listField(z.union([z.string(), mixed])), fits: Array.isArray },
]);

/** A request of /completion or /infill. */
export interface CompletionCall {
  readonly model: string | undefined;
  /** Number of prompts. */
  readonly texts: number;
  /** Whether the answer is a list. */
  readonly isList: boolean;
  readonly isStreamed: boolean;
  /** Whether token ids are given beside the text. */
  readonly withTokens: boolean;
  readonly prompts: (tokenizer: Tokenizer) => Promise<readonly Prompt[]>;
  /** What follows the text; empty: nothing is known. */
  readonly suffix: string;
  readonly options: (tokenizer: Tokenizer) => GenerationOptions;
  /** Fields of the request that are settings of generation, which the answer repeats. */
  readonly settings: Readonly<Record<string, unknown>> & { readonly seed?: unknown };
}

type SharedFields = z.infer<z.ZodObject<typeof shared>>;

/** Requests of /completion. */
export const completionForm: RequestForm<CompletionCall> = requestForm(
  requestObject({ prompt: prompts, ...shared }).openapi("LlamaCompletionRequest"),
  ({ prompt, ...fields }) => {
    const isList = hasSeveral(prompt);
    const given = isList ? prompt : [prompt];
    const read = (tokenizer: Tokenizer): Promise<Prompt[]> => Promise.all(given.map((each) => toPrompt(each, tokenizer)));
    return { ...toShared(fields), texts: given.length, isList, prompts: read, suffix: "" };
  },
);

/** Requests of /infill. What stands before the middle: other files, the prefix, and the prompt. */
export const infillForm: RequestForm<CompletionCall> = requestForm(
  requestObject({
    input_prefix: z.string().optional().openapi({ description: "Text before the cursor" }),
    input_suffix: z.string().optional().openapi({ description: "Text behind the cursor" }),
    input_extra: listField(members())
      .optional()
      .openapi({ description: "Other files, as `{ filename, text }`: they stand before the prefix" }),
    prompt: z.string().optional().openapi({ description: "Text after the prefix" }),
    ...shared,
  }).openapi("LlamaInfillRequest"),
  ({ input_prefix: prefix = "", input_suffix: suffix = "", input_extra: extra = [], prompt = "", ...fields }) => {
    const files = extra.map((file) => (typeof file["text"] === "string" ? `${file["text"]}\n` : ""));
    const prompts = async (): Promise<Prompt[]> => [`${files.join("")}${prefix}${prompt}`];
    return { ...toShared(fields), texts: 1, isList: false, prompts, suffix };
  },
);

function toShared(fields: SharedFields): Omit<CompletionCall, "texts" | "isList" | "prompts" | "suffix"> {
  const { model, stream: isStreamed = false, return_tokens: withTokens = false, ...settings } = fields;
  return { model, isStreamed, withTokens, settings, options: (tokenizer) => toOptions(fields, tokenizer) };
}

/** Whether a request has several prompts: a list of texts, or a list with a list. */
function hasSeveral(prompt: MixedPrompt | readonly MixedPrompt[]): prompt is readonly MixedPrompt[] {
  return typeof prompt !== "string" && prompt.length > 0 && (prompt.every(isText) || prompt.some(Array.isArray));
}

/** The prompt for the model: texts between token ids are tokenized, the first part with the special tokens that begin a text. */
async function toPrompt(given: MixedPrompt, tokenizer: Tokenizer): Promise<Prompt> {
  if (typeof given === "string") return given;
  const parts: number[][] = [];
  for (const [index, part] of given.entries()) {
    const options = { maxTokens: Number.POSITIVE_INFINITY, ...(index === 0 ? {} : { addSpecialTokens: false }) };
    parts.push(typeof part === "number" ? [part] : (await encodeText(tokenizer, part, options)).ids);
  }
  return parts.flat();
}

/** Options of generation. Throws INPUT_INVALID for mirostat, and for two constraints. */
function toOptions(request: SharedFields, tokenizer: Tokenizer): GenerationOptions {
  const { n_predict: limit = request.max_tokens ?? -1, mirostat = 0, stop, n_probs: alternatives = 0 } = request;
  if (mirostat !== 0) throw unsupportedField("mirostat", "mirostat", "leave it out");
  const { temperature, top_k: topK, top_p: topP, typical_p: typicalP } = request;
  return readSampling({
    maxNewTokens: limit < 0 ? Number.MAX_SAFE_INTEGER : limit,
    temperature: temperature === undefined ? undefined : Math.max(0, temperature),
    topK: topK === undefined ? undefined : Math.max(0, topK),
    topP: topP !== undefined && topP > 0 && topP < 1 ? topP : undefined,
    minP: request.min_p === undefined || request.min_p < 0 ? undefined : request.min_p,
    typicalP: typicalP !== undefined && typicalP > 0 && typicalP < 1 ? typicalP : undefined,
    repetitionPenalty: request.repeat_penalty,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    seed: request.seed,
    stop,
    ignoreEndTokens: request.ignore_eos,
    logitBias: getBias(request.logit_bias, tokenizer),
    logprobs: alternatives === 0 ? undefined : alternatives,
    constraint: toConstraint(request),
  });
}

function toConstraint({ grammar, json_schema: schema }: SharedFields): GenerationOptions["constraint"] {
  const hasGrammar = grammar !== undefined && grammar !== "";
  if (hasGrammar && schema !== undefined) throw invalidField("grammar", "says what the text must be, and so does json_schema");
  return hasGrammar ? guided("grammar", grammar, "grammar") : guided("json", schema, "json_schema");
}

function getBias(given: unknown, tokenizer: Tokenizer): Readonly<Record<number, number>> | undefined {
  if (given === undefined) return undefined;
  const pairs: readonly unknown[] = Array.isArray(given) ? given : isObject(given) ? Object.entries(given) : [];
  const biases = pairs.flatMap((pair, index) => {
    const [of, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const bias = value === false ? -100 : value;
    if (typeof bias !== "number") throw invalidField(`logit_bias.${index}`, "must be a token and a number or false");
    const isId = typeof of === "number" || (typeof of === "string" && !Array.isArray(given));
    if (isId) return [[Number(of), bias] as const];
    if (typeof of !== "string") throw invalidField(`logit_bias.${index}`, "must begin with a token id or a text");
    const { ids } = tokenizer.encode(of, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY });
    return ids.map((id) => [id, bias] as const);
  });
  return Object.fromEntries(biases);
}
