/** Answers the tasks of Hugging Face that write texts, as text-generation-inference and the pipelines of transformers do. */
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import type { GeneratedText, GenerationEvent } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import type { Env } from "../../http/context.ts";
import { partIgnorer, takeFields } from "../../http/fields/take-fields.ts";
import type { Service } from "../../serving/service.ts";
import { type Answered, answerGeneration } from "../generation/answer.ts";
import type { GenerationCall, StartedCall } from "../generation/open-stream.ts";
import { unsupportedField } from "../generation/request-errors.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { headerModel } from "../run-task.ts";
import { type ShownTokens, generatedTokens, tokenEvents, tokenFailure } from "./generated-tokens.ts";
import { type TextsCall, generationForm } from "./generation-request.ts";

/** A task that writes texts. */
export type GenerationTask = "text-generation" | "text2text-generation" | "summarization" | "translation";

/** How generated texts are returned. */
export interface TextsAnswer {
  readonly task: GenerationTask;
  /** The task as the path names it, such as "translation_en_to_fr". */
  readonly named?: string | undefined;
  /** Default: the model of the header, or the default model. */
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

/** The texts of a request. */
interface Texts {
  readonly results: readonly GeneratedText[];
}

/** The response to a request. Throws errors of validation, loading and generation. */
export async function answerTexts(
  service: Service,
  context: Context<Env>,
  body: unknown,
  answer: TextsAnswer,
): Promise<Response> {
  const form = generationForm(service.limits.maxTexts);
  const call = form.read(takeFields(context, body, form.schema), partIgnorer(context));
  const { inputs, n, details, isStreamed = answer.isStreamed ?? false, isFull = answer.fullText ?? false } = call;
  const texts = [inputs].flat();
  if (isStreamed && texts.length * n > 1) throw unsupportedField("stream", "streaming several texts", "send them one by one");
  let isRewritten = false;
  const start: GenerationCall<Texts, GenerationEvent>["start"] = (on, tokenizer) => {
    isRewritten = answer.task !== "text-generation" || getGenerationTask(on.model.manifest) !== "text-generation";
    const starting = { call, texts, wantsTokens: tokenizer !== undefined, answer };
    return isRewritten ? startRewriting(service, on, starting) : startGenerating(service, on, starting);
  };
  const getShown = ({ tokenizer }: Answered): ShownTokens & { readonly before: readonly string[] } => {
    const before = isFull && !isRewritten ? texts : texts.map(() => "");
    return { texts: new TokenTexts(tokenizer), before, call };
  };
  const model = headerModel(context, answer.model);
  return answerGeneration(
    service,
    context,
    { model, texts: texts.length * n, isStreamed, showsTokens: isStreamed || details, start },
    {
      whole: ({ results }, about) => {
        const shown = getShown(about);
        const each = Math.max(1, results.length / texts.length);
        // A path without a task names none of those that a model with an encoder and a decoder may have: each client finds its own field.
        const fields = answer.named === undefined && isRewritten ? Object.values(textFields) : [textFields[answer.task]];
        const lists = texts.map((_, index) =>
          results.slice(index * each, (index + 1) * each).map((result) => ({
            ...Object.fromEntries(fields.map((field) => [field, (shown.before[index] ?? "") + result.text])),
            ...(details ? { details: generatedTokens(result, shown) } : {}),
          })),
        );
        return JSON.stringify(shaped(lists, inputs, answer));
      },
      parts: (stream, about) => tokenEvents(stream, getShown(about)),
      failure: tokenFailure,
    },
  );
}

/** As pipelines: of several prompts a list for each of their texts, of one its texts; for what is rewritten one list. /generate has one object. */
function shaped(lists: readonly object[][], inputs: unknown, { isSingle = false, task }: TextsAnswer): unknown {
  if (isSingle && typeof inputs === "string") return lists[0]?.[0];
  return Array.isArray(inputs) && task === "text-generation" ? lists : lists.flat();
}

interface Starting {
  readonly call: TextsCall;
  readonly texts: readonly string[];
  readonly wantsTokens: boolean;
  readonly answer: TextsAnswer;
}

async function startGenerating(
  service: Service,
  on: StartedCall,
  { call: { readOptions, truncate, topTokens, withPrompts }, texts, wantsTokens }: Starting,
): Promise<GenerationStream<Texts>> {
  const options = readOptions();
  const prompts = truncate === undefined ? texts : await lastTokens(service, on, texts, truncate);
  const scores = wantsTokens && options.numBeams === undefined ? { logprobs: topTokens } : {};
  const promptScores = withPrompts ? { promptLogprobs: 0 } : {};
  return service.runtime.generate(prompts, { ...greedyUnlessAsked(options), ...scores, ...promptScores, ...on, stream: true });
}

/** Sampling begins where a setting of it is given, whatever the model's files say, as in text-generation-inference. */
function greedyUnlessAsked(options: GenerationOptions): GenerationOptions {
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
  on: StartedCall,
  { call, texts, answer, wantsTokens }: Starting,
): Promise<GenerationStream<Texts>> {
  const { sourceLanguage, targetLanguage, topTokens } = call;
  const sampling = call.readOptions();
  const task = statedTask(on.model.manifest, [
    answer.named,
    answer.task,
    ...(sourceLanguage === undefined || targetLanguage === undefined
      ? []
      : [`translation_${sourceLanguage}_to_${targetLanguage}`]),
  ]);
  const options = {
    ...sampling,
    ...(wantsTokens && sampling.numBeams === undefined ? { logprobs: topTokens, numBeams: 1 } : {}),
    ...(task === undefined ? omitUndefined({ sourceLanguage, targetLanguage }) : { task }),
  };
  return service.runtime.rewrite(texts, { ...options, ...on, stream: true });
}

/** The first of these names that config.json has in `task_specific_params`. */
function statedTask({ generation = {} }: Manifest, names: readonly (string | undefined)[]): string | undefined {
  const stated = generation["task_specific_params"];
  if (typeof stated !== "object" || stated === null) return undefined;
  return names.find((name) => name !== undefined && Object.hasOwn(stated, name));
}
