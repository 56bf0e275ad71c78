/** Answers the tasks of Hugging Face that write texts, as text-generation-inference and the pipelines of transformers do. */
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import type { GeneratedText } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import { type Env, resultHeaders } from "../../http/context.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Service } from "../../serving/service.ts";
import { type StartedCall, openStream } from "../generation/open-stream.ts";
import { unsupportedField } from "../generation/request-errors.ts";
import { eventStreamHeaders, streamedBody } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { type GenerationParameters, allParameters, toGenerationOptions, generationRequest } from "./generation-request.ts";
import { generatedTokens, tokenEvents } from "./generated-tokens.ts";

/** A task that writes texts. */
export type GenerationTask = "text-generation" | "text2text-generation" | "summarization" | "translation";

/** How generated texts are returned. */
export interface GenerationAnswer {
  readonly task: GenerationTask;
  /** The task as the path names it, such as "translation_en_to_fr". */
  readonly named?: string | undefined;
  /** Name of the model. Default: the model in the header, or the default model. */
  readonly model?: string | undefined;
  /** Whether one text is an object, as on /generate, and not a list of one. Default: false. */
  readonly isSingle?: boolean;
  /** Whether each text begins with its prompt if the request does not say. Default: false. */
  readonly fullText?: boolean;
  /** Whether the answer is a stream. Default: as in the request. */
  readonly isStreamed?: boolean;
}

/** The field of the text in the answers of each task. */
const textFields: Readonly<Record<GenerationTask, string>> = {
  "text-generation": "generated_text",
  "text2text-generation": "generated_text",
  summarization: "summary_text",
  translation: "translation_text",
};

/** The task of a model that writes texts; undefined for others. */
export function getGenerationTask(manifest: Manifest): GenerationTask | undefined {
  if (usualKind(manifest) !== "language") return undefined;
  return manifest.tasks.includes("text-generation") ? "text-generation" : "text2text-generation";
}

/** The response to a request. Throws errors of validation, loading and generation. */
export async function answerGeneration(
  service: Service,
  context: Context<Env>,
  body: unknown,
  answer: GenerationAnswer,
): Promise<Response> {
  const request = takeFields(context, body, generationRequest(service.limits.maxTexts));
  const { stream = false } = request;
  const parameters = allParameters(request);
  const texts = [request.inputs].flat();
  const isStreamed = answer.isStreamed ?? stream;
  const n = parameters.num_return_sequences ?? 1;
  if (isStreamed && texts.length * n > 1) throw unsupportedField("stream", "streaming several texts", "send them one by one");
  const model = answer.model ?? context.req.header("x-inferyard-model");
  const isFull = parameters.return_full_text ?? answer.fullText ?? false;
  const wantsTokens = isStreamed || parameters.details === true;
  const opened: { isRewritten: boolean; tokenizer?: Awaited<ReturnType<typeof service.runtime.tokenizer>> } = {
    isRewritten: false,
  };
  const { stream: reading, outcome } = await openStream(service, context, { model, texts: texts.length * n }, async (call) => {
    opened.isRewritten = answer.task !== "text-generation" || getGenerationTask(call.model.manifest) !== "text-generation";
    if (wantsTokens) opened.tokenizer = await service.runtime.tokenizer(call.model);
    const starting = { parameters, texts, wantsTokens, answer };
    return opened.isRewritten ? startRewriting(service, call, starting) : startGenerating(service, call, starting);
  });
  const before = isFull && !opened.isRewritten ? texts : texts.map(() => "");
  const shown = { texts: new TokenTexts(opened.tokenizer), before: before[0] ?? "", parameters };
  if (isStreamed) {
    const events = streamedBody(tokenEvents(reading, shown), ": still here\n\n");
    return context.body(events, 200, eventStreamHeaders);
  }
  void reading.finish();
  const done = await outcome;
  const { results } = done.result;
  const each = Math.max(1, results.length / texts.length);
  // A path without a task names none of those that a model with an encoder and a decoder may have: each client finds its own field.
  const fields = answer.named === undefined && opened.isRewritten ? Object.values(textFields) : [textFields[answer.task]];
  const lists = texts.map((_, index) =>
    results.slice(index * each, (index + 1) * each).map((result) => ({
      ...Object.fromEntries(fields.map((field) => [field, (before[index] ?? "") + result.text])),
      ...(parameters.details === true ? { details: generatedTokens(result, shown) } : {}),
    })),
  );
  return jsonResponse(context, shaped(lists, request.inputs, answer), resultHeaders(done));
}

/** As pipelines: of several prompts a list for each of their texts, of one its texts; for what is rewritten one list. /generate has one object. */
function shaped(lists: readonly object[][], inputs: unknown, { isSingle = false, task }: GenerationAnswer): unknown {
  if (isSingle && typeof inputs === "string") return lists[0]?.[0];
  return Array.isArray(inputs) && task === "text-generation" ? lists : lists.flat();
}

interface Starting {
  readonly parameters: GenerationParameters;
  readonly texts: readonly string[];
  readonly wantsTokens: boolean;
  readonly answer: GenerationAnswer;
}

type Texts = GenerationStream<{ readonly results: readonly GeneratedText[] }>;

async function startGenerating(
  service: Service,
  call: StartedCall,
  { parameters, texts, wantsTokens }: Starting,
): Promise<Texts> {
  const { truncate, top_n_tokens: alternatives = 0, decoder_input_details: withPrompt = false } = parameters;
  const prompts = truncate === undefined ? texts : await lastTokens(service, call, texts, truncate);
  const options = toGenerationOptions(parameters);
  const scores = wantsTokens && options.numBeams === undefined ? { logprobs: alternatives } : {};
  const promptScores = withPrompt ? { promptLogprobs: 0 } : {};
  return service.runtime.generate(prompts, { ...greedyUnlessAsked(options), ...scores, ...promptScores, ...call, stream: true });
}

/** Sampling begins where a setting of it is given, whatever the model's files say, as in text-generation-inference. */
function greedyUnlessAsked(options: ReturnType<typeof toGenerationOptions>): ReturnType<typeof toGenerationOptions> {
  const { temperature, topK, topP, typicalP, doSample, numBeams } = options;
  const asks = [temperature, topK, topP, typicalP, doSample, numBeams].some((value) => value !== undefined);
  return asks ? options : { ...options, doSample: false };
}

async function lastTokens(service: Service, { model }: StartedCall, texts: readonly string[], count: number): Promise<Prompt[]> {
  const tokenizer = await service.runtime.tokenizer(model);
  const options = { maxTokens: Number.POSITIVE_INFINITY };
  const prompts: Prompt[] = [];
  for (const text of texts) prompts.push((await encodeText(tokenizer, text, options)).ids.slice(-count));
  return prompts;
}

async function startRewriting(
  service: Service,
  call: StartedCall,
  { parameters, texts, answer, wantsTokens }: Starting,
): Promise<Texts> {
  const { src_lang: source, tgt_lang: target, top_n_tokens: alternatives = 0, num_beams: beams } = parameters;
  const task = statedTask(call.model.manifest, [
    answer.named,
    answer.task,
    ...(source === undefined || target === undefined ? [] : [`translation_${source}_to_${target}`]),
  ]);
  const languages = {
    ...omitUndefined({ sourceLanguage: source, targetLanguage: target }),
  };
  const options = {
    ...toGenerationOptions(parameters),
    ...(wantsTokens && beams === undefined ? { logprobs: alternatives, numBeams: 1 } : {}),
    ...(task === undefined ? languages : { task }),
  };
  return service.runtime.rewrite(texts, { ...options, ...call, stream: true });
}

/** The first of these names that config.json has in `task_specific_params`. */
function statedTask({ generation = {} }: Manifest, names: readonly (string | undefined)[]): string | undefined {
  const stated = generation["task_specific_params"];
  if (typeof stated !== "object" || stated === null) return undefined;
  return names.find((name) => name !== undefined && Object.hasOwn(stated, name));
}
