/**
 * The pipelines of transformers.js on the methods of a runtime: one function per task. One text gives one result, an array of
 * texts an array of results; fields are named as in transformers.js.
 */
import type { Decision } from "../runtime/decision/decision.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { refuseUnlisted } from "../runtime/options/option.ts";
import type { GenerationPipelineCalls } from "./generation-pipelines.ts";
import { type VisionPipelineCalls, visionPipelines } from "./vision-pipelines.ts";
import type { Runtime } from "./runtime.ts";
import type { SpeechPipelineCalls } from "./speech-pipelines.ts";
import type { Texts } from "./task-requests.ts";
import type { ClassifyOptions } from "../tasks/classification/generated-classify-options.ts";
import type { EmbedOptions } from "../tasks/embedding/embed-options.ts";
import type { TextPair } from "../tasks/encoding/encode-pairs.ts";
import type { QuestionAnswer } from "../tasks/question-answering/answer.ts";
import type { AnswerOptions } from "../tasks/question-answering/generated-answer-options.ts";
import type { FillMaskOptions } from "../tasks/fill-mask/generated-fill-mask-options.ts";
import {
  type HuggingFaceEntity,
  type HuggingFaceFill,
  toHuggingFaceEntities,
  toHuggingFaceFills,
} from "../tasks/hugging-face-results.ts";
import type { LabelScore } from "../tasks/encoding/label-head.ts";
import type { RecognizeOptions } from "../tasks/token-classification/generated-recognize-options.ts";
import type { RankedDocument } from "../tasks/reranking/cross-encoder.ts";
import type { RerankOptions } from "../tasks/reranking/generated-rerank-options.ts";

/** Vectors in one block, as in transformers.js, and where they were computed. */
export interface FeatureTensor {
  /** [texts, dimensions]. With pooling "none": [texts, tokens of the longest text, dimensions], padded with zeros. */
  readonly dims: readonly number[];
  /** Row-major. */
  readonly data: Float32Array;
  /**
   * Number of tokens of each text, special tokens included. With pooling "none", that many rows of the text are vectors; the
   * others are zeros.
   */
  readonly tokens: readonly number[];
  readonly target: string;
  readonly decision: Decision;
  /** The vectors as nested arrays of numbers. */
  tolist(): unknown[];
}

/** Labels of one text with their scores, best first. */
export interface ZeroShotLabels {
  readonly sequence: string;
  readonly labels: readonly string[];
  readonly scores: readonly number[];
}

/** A function on one text or a list of texts: one result, or a list of results. */
export interface OneOrMany<Result, Rest extends readonly unknown[]> {
  (text: string, ...rest: Rest): Promise<Result>;
  (texts: readonly string[], ...rest: Rest): Promise<Result[]>;
}

/** Signature of the pipeline of each task. */
export interface PipelineCalls extends GenerationPipelineCalls, SpeechPipelineCalls, VisionPipelineCalls {
  /** Pooling and normalization default to the model's own; transformers.js defaults to none. */
  "feature-extraction": (texts: Texts, options?: EmbedOptions) => Promise<FeatureTensor>;
  /** One label per text; with `topK` a list of up to that many. */
  "text-classification": (
    texts: string | TextPair | readonly (string | TextPair)[],
    options?: Omit<ClassifyOptions, "labels" | "hypothesisTemplate" | "multiLabel">,
  ) => Promise<LabelScore[] | LabelScore[][]>;
  "zero-shot-classification": OneOrMany<ZeroShotLabels, [labels: readonly string[], options?: ZeroShotPipelineOptions]>;
  /** `aggregation` defaults to "none", as in transformers.js. */
  "token-classification": OneOrMany<HuggingFaceEntity[], [options?: RecognizeOptions]>;
  "text-ranking": (query: string, documents: readonly string[], options?: RerankOptions) => Promise<RankedDocument[]>;
  /** Tokens for the mask of a text, best first; one list per mask for a text with several. */
  "fill-mask": OneOrMany<HuggingFaceFill[] | HuggingFaceFill[][], [options?: FillMaskOptions]>;
  /** The best answer; with `topK` a list of up to that many; null for a context without words. */
  "question-answering": {
    (question: string, context: string, options?: AnswerOptions): Promise<PipelineAnswer>;
    (questions: readonly string[], contexts: readonly string[], options?: AnswerOptions): Promise<PipelineAnswer[]>;
  };
}

/** Result of the question-answering pipeline for one question. */
export type PipelineAnswer = QuestionAnswer | readonly QuestionAnswer[] | null;

/** Options of the zero-shot-classification pipeline. */
export type ZeroShotPipelineOptions = Omit<ClassifyOptions, "labels" | "activation">;

/** A task that `pipeline` supports. */
export type PipelineTask = keyof PipelineCalls;

/** For each alias of a task in transformers.js (such as "ner") the name of the task that `pipeline` runs for it. */
export const pipelineAliases = {
  embeddings: "feature-extraction",
  "sentiment-analysis": "text-classification",
  ner: "token-classification",
} as const;

/** Aliases of tasks in transformers.js. */
export type PipelineAliases = typeof pipelineAliases;

type PipelineFactories = {
  readonly [Task in PipelineTask]: (runtime: Runtime, model: ModelHandle) => PipelineCalls[Task] | Promise<PipelineCalls[Task]>;
};

/** Creates the pipeline of each task for a loaded model. */
export const pipelineFactories: PipelineFactories = {
  "feature-extraction": (runtime, model) => async (texts, options) => {
    refuseUnlisted("precision", options?.precision, ["float32"]);
    const { embeddings, pooling, dimensions, tokens, target, decision } = await runtime.embed(texts, { ...options, model });
    const maxLength = embeddings.reduce((max, vectors) => Math.max(max, vectors.length), 0);
    const data = new Float32Array(embeddings.length * maxLength);
    for (const [index, vectors] of embeddings.entries()) data.set(vectors, index * maxLength);
    const dims =
      pooling === "none" ? [embeddings.length, maxLength / Math.max(dimensions, 1), dimensions] : [embeddings.length, dimensions];
    return { dims, data, tokens, target, decision, tolist: () => nest(data, dims) };
  },

  "text-classification": (runtime, model) => async (texts, options) => {
    const { results } = await runtime.classify(texts, { topK: 1, ...options, model });
    const lists = results.map((labels) => [...labels]);
    if ((options?.topK ?? 1) === 1) return lists.flat();
    return Array.isArray(texts) ? lists : (lists[0] ?? []);
  },

  "zero-shot-classification": (runtime, model) =>
    oneOrMany(async (texts, labels: readonly string[], options?: ZeroShotPipelineOptions) => {
      const { results } = await runtime.classify(texts, { ...options, labels, model });
      return results.map((scored, index) => ({
        sequence: texts[index] ?? "",
        labels: scored.map(({ label }) => label),
        scores: scored.map(({ score }) => score),
      }));
    }),

  "token-classification": (runtime, model) =>
    oneOrMany(async (texts, options?: RecognizeOptions) => {
      const { results } = await runtime.recognize(texts, { aggregation: "none", ...options, model });
      return results.map(toHuggingFaceEntities);
    }),

  "text-ranking": (runtime, model) => async (query, documents, options) => {
    const { results } = await runtime.rerank(query, documents, { ...options, model });
    return [...results];
  },

  "fill-mask": (runtime, model) =>
    oneOrMany(async (texts, options?: FillMaskOptions) => {
      const { results } = await runtime.fillMask(texts, { ...options, model });
      return results.map(toHuggingFaceFills);
    }),

  "question-answering": (runtime, model) => {
    const ask = async (
      questions: Texts,
      contexts: Texts,
      options?: AnswerOptions,
    ): Promise<PipelineAnswer | PipelineAnswer[]> => {
      const { results } = await runtime.answer(questions, contexts, { ...options, model });
      const shaped = results.map((answers) => ((options?.topK ?? 1) === 1 ? (answers[0] ?? null) : [...answers]));
      return typeof questions === "string" && typeof contexts === "string" ? (shaped[0] ?? null) : shaped;
    };
    return ask as PipelineCalls["question-answering"];
  },

  "text-generation": async (runtime, model) => (await generationPipelines()).textGeneration(runtime, model),
  "text2text-generation": async (runtime, model) => (await generationPipelines()).rewriting(runtime, model, "generated_text"),
  summarization: async (runtime, model) => (await generationPipelines()).rewriting(runtime, model, "summary_text"),
  translation: async (runtime, model) => (await generationPipelines()).rewriting(runtime, model, "translation_text"),
  ...visionPipelines,
  "audio-classification": async (runtime, model) => (await import("./speech-pipelines.ts")).soundClassification(runtime, model),
  "automatic-speech-recognition": async (runtime, model) =>
    (await import("./speech-pipelines.ts")).speechRecognition(runtime, model),
};

/** The pipelines that write text, imported when one is created. */
function generationPipelines() {
  return import("./generation-pipelines.ts");
}

/** The tasks that no built-in model serves. */
export const tasksWithoutDefault: ReadonlySet<PipelineTask> = new Set<PipelineTask>([
  ...(Object.keys(visionPipelines) as (keyof VisionPipelineCalls)[]),
  "audio-classification",
]);

/** The tasks whose pipelines run language models. */
export const languageTasks: ReadonlySet<PipelineTask> = new Set<PipelineTask>([
  "text-generation",
  "text2text-generation",
  "summarization",
  "translation",
  "automatic-speech-recognition",
]);

/** Wraps a function on a list of texts so that it also takes a single text. */
function oneOrMany<Result, Rest extends readonly unknown[]>(
  many: (texts: readonly string[], ...rest: Rest) => Promise<Result[]>,
): OneOrMany<Result, Rest> {
  const call = async (texts: Texts, ...rest: Rest): Promise<Result | Result[] | undefined> =>
    typeof texts === "string" ? (await many([texts], ...rest))[0] : many(texts, ...rest);
  return call as OneOrMany<Result, Rest>;
}

function nest(data: Float32Array, dims: readonly number[]): unknown[] {
  if (dims.length <= 1) return [...data];
  const [count = 0, ...rest] = dims;
  const size = rest.reduce((product, dimension) => product * dimension, 1);
  return Array.from({ length: count }, (_row, index) => nest(data.subarray(index * size, (index + 1) * size), rest));
}
