/**
 * The pipelines transformers.js users know, over the verbs of a runtime: one function per task. A text gives one result, an array of texts an
 * array of results, fields named as there.
 */
import type { Decision } from "../runtime/decision/decision.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { refuseUnlisted } from "../runtime/options/options.ts";
import type { Runtime } from "./runtime.ts";
import type { ClassifyOptions } from "../tasks/classification/classify.ts";
import type { EmbedOptions } from "../tasks/embedding/embed-options.ts";
import type { TextPair } from "../tasks/shared/encode-pairs.ts";
import type { Answer, AnswerOptions } from "../tasks/question-answering/answer.ts";
import type { FillMaskOptions } from "../tasks/fill-mask/fill-mask.ts";
import {
  type HuggingFaceEntity,
  type HuggingFaceFill,
  toHuggingFaceEntities,
  toHuggingFaceFills,
} from "../tasks/shared/hugging-face-results.ts";
import type { LabelScore } from "../tasks/shared/label-head.ts";
import type { RecognizeOptions } from "../tasks/token-classification/recognize.ts";
import type { RankedDocument, RerankOptions } from "../tasks/reranking/cross-encoder.ts";

/** Vectors as one block, the way transformers.js gives them, and where they were computed. */
export interface FeatureTensor {
  /** [texts, dimensions]; with pooling "none" [texts, tokens of the longest, dimensions], zeros after the end of shorter ones. */
  readonly dims: readonly number[];
  /** Row-major. */
  readonly data: Float32Array;
  /** Tokens of each text, special tokens included: with pooling "none" so many of its rows are vectors, and the rest zeros. */
  readonly tokens: readonly number[];
  readonly target: string;
  readonly decision: Decision;
  /** Nested arrays of numbers. */
  tolist(): unknown[];
}

/** Labels of one text, best first. */
export interface ZeroShotLabels {
  readonly sequence: string;
  readonly labels: readonly string[];
  readonly scores: readonly number[];
}

/** What a pipeline of each task is called with, and what it gives. */
export interface PipelineCalls {
  /** Its defaults for pooling and normalization are the model's own, where transformers.js's are none. */
  "feature-extraction": (texts: string | readonly string[], options?: EmbedOptions) => Promise<FeatureTensor>;
  /** One label a text, or with `topK` a list of so many. */
  "text-classification": (
    texts: string | TextPair | readonly (string | TextPair)[],
    options?: Omit<ClassifyOptions, "labels" | "hypothesisTemplate" | "multiLabel">,
  ) => Promise<LabelScore[] | LabelScore[][]>;
  "zero-shot-classification": {
    (text: string, labels: readonly string[], options?: ZeroShotPipelineOptions): Promise<ZeroShotLabels>;
    (texts: readonly string[], labels: readonly string[], options?: ZeroShotPipelineOptions): Promise<ZeroShotLabels[]>;
  };
  /** Aggregation is "none" where nothing else is asked for, as it is there. */
  "token-classification": {
    (text: string, options?: RecognizeOptions): Promise<HuggingFaceEntity[]>;
    (texts: readonly string[], options?: RecognizeOptions): Promise<HuggingFaceEntity[][]>;
  };
  "text-ranking": (query: string, documents: readonly string[], options?: RerankOptions) => Promise<RankedDocument[]>;
  /** Tokens for the mask of a text, best first; for a text with several masks a list for each. */
  "fill-mask": {
    (text: string, options?: FillMaskOptions): Promise<HuggingFaceFill[] | HuggingFaceFill[][]>;
    (texts: readonly string[], options?: FillMaskOptions): Promise<(HuggingFaceFill[] | HuggingFaceFill[][])[]>;
  };
  /** The best answer, or with `topK` a list of so many; null for a context without words. */
  "question-answering": {
    (question: string, context: string, options?: AnswerOptions): Promise<PipelineAnswer>;
    (questions: readonly string[], contexts: readonly string[], options?: AnswerOptions): Promise<PipelineAnswer[]>;
  };
}

export type PipelineAnswer = Answer | readonly Answer[] | null;

export type ZeroShotPipelineOptions = Omit<ClassifyOptions, "labels" | "activation">;

/** A task `pipeline` knows. */
export type PipelineTask = keyof PipelineCalls;

/** Other names transformers.js knows tasks by. */
export interface PipelineAliases {
  readonly embeddings: "feature-extraction";
  readonly "sentiment-analysis": "text-classification";
  readonly ner: "token-classification";
}

export const pipelineAliases: PipelineAliases = {
  embeddings: "feature-extraction",
  "sentiment-analysis": "text-classification",
  ner: "token-classification",
};

type PipelineFactories = {
  readonly [Task in PipelineTask]: (runtime: Runtime, model: ModelHandle) => PipelineCalls[Task];
};

export const pipelineFactories: PipelineFactories = {
  "feature-extraction": (runtime, model) => async (texts, options) => {
    refuseUnlisted("precision", options?.precision, ["float32"]);
    const { embeddings, pooling, dimensions, tokens, target, decision } = await runtime.embed(texts, { ...options, model });
    const longest = embeddings.reduce((most, vectors) => Math.max(most, vectors.length), 0);
    const data = new Float32Array(embeddings.length * longest);
    for (const [index, vectors] of embeddings.entries()) data.set(vectors, index * longest);
    const dims =
      pooling === "none" ? [embeddings.length, longest / Math.max(dimensions, 1), dimensions] : [embeddings.length, dimensions];
    return { dims, data, tokens, target, decision, tolist: () => nest(data, dims) };
  },

  "text-classification": (runtime, model) => async (texts, options) => {
    const { results } = await runtime.classify(texts, { topK: 1, ...options, model });
    const lists = results.map((labels) => [...labels]);
    if ((options?.topK ?? 1) === 1) return lists.flat();
    return Array.isArray(texts) ? lists : (lists[0] ?? []);
  },

  "zero-shot-classification": (runtime, model) => {
    const judge = async (
      texts: readonly string[],
      labels: readonly string[],
      options?: ZeroShotPipelineOptions,
    ): Promise<ZeroShotLabels[]> => {
      const { results } = await runtime.classify(texts, { ...options, labels, model });
      return results.map((judged, index) => ({
        sequence: texts[index] ?? "",
        labels: judged.map(({ label }) => label),
        scores: judged.map(({ score }) => score),
      }));
    };
    return oneOrMany(judge);
  },

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
    async function ask(question: string, context: string, options?: AnswerOptions): Promise<PipelineAnswer>;
    async function ask(
      questions: readonly string[],
      contexts: readonly string[],
      options?: AnswerOptions,
    ): Promise<PipelineAnswer[]>;
    async function ask(
      questions: string | readonly string[],
      contexts: string | readonly string[],
      options?: AnswerOptions,
    ): Promise<PipelineAnswer | PipelineAnswer[]> {
      const { results } = await runtime.answer(questions, contexts, { ...options, model });
      const shaped = results.map((answers) => ((options?.topK ?? 1) === 1 ? (answers[0] ?? null) : [...answers]));
      return typeof questions === "string" && typeof contexts === "string" ? (shaped[0] ?? null) : shaped;
    }
    return ask;
  },
};

/** A function of many texts, for one as well. */
function oneOrMany<Result, Rest extends readonly unknown[]>(
  many: (texts: readonly string[], ...rest: Rest) => Promise<Result[]>,
): {
  (text: string, ...rest: Rest): Promise<Result>;
  (texts: readonly string[], ...rest: Rest): Promise<Result[]>;
} {
  async function call(text: string, ...rest: Rest): Promise<Result>;
  async function call(texts: readonly string[], ...rest: Rest): Promise<Result[]>;
  async function call(texts: string | readonly string[], ...rest: Rest): Promise<Result | Result[]> {
    if (typeof texts !== "string") return many(texts, ...rest);
    const [only] = await many([texts], ...rest);
    return only as Result;
  }
  return call;
}

function nest(data: Float32Array, dims: readonly number[]): unknown[] {
  if (dims.length <= 1) return [...data];
  const [count = 0, ...rest] = dims;
  const size = rest.reduce((product, dimension) => product * dimension, 1);
  return Array.from({ length: count }, (_row, index) => nest(data.subarray(index * size, (index + 1) * size), rest));
}
