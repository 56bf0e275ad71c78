/** What the verbs of a runtime are asked with, and what they give: a task's own options and results, and where it ran. */
import type { Decision } from "../runtime/decision/decision.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";
import type { AnswerOptions, Answers } from "../tasks/question-answering/answer.ts";
import type { ChunkedText } from "../tasks/chunking/chunk.ts";
import type { ChunkOptions } from "../tasks/chunking/chunk-options.ts";
import type { ClassifyOptions } from "../tasks/classification/classify.ts";
import type { EmbedOptions, QuantizedEmbedOptions } from "../tasks/embedding/embed-options.ts";
import type { EmbedSparseOptions, SparseEmbeddings } from "../tasks/sparse-embedding/embed-sparse.ts";
import type { Embeddings } from "../tasks/embedding/embeddings.ts";
import type { ExtractOptions, ExtractedFields } from "../tasks/extraction/extract.ts";
import type { FillMaskOptions, MaskFills } from "../tasks/fill-mask/fill-mask.ts";
import type { Classifications } from "../tasks/shared/label-head.ts";
import type { QuantizedPrecision, QuantizedVectors } from "../tasks/embedding/quantize.ts";
import type { Entities } from "../tasks/token-classification/entities.ts";
import type { RecognizeOptions } from "../tasks/token-classification/recognize.ts";
import type { Ranking, RerankOptions } from "../tasks/reranking/cross-encoder.ts";
import type { Similarities, SimilarityOptions } from "../tasks/similarity/similarity.ts";
import type { TensorMap } from "../tensor.ts";

/** What every task says beside its results. */
export interface TaskRun {
  /** The reference of the model. */
  readonly model: string;
  /** Where it ran, for example "onnx:cpu". */
  readonly target: string;
  /** Why it ran there. */
  readonly decision: Decision;
  /** From what was given to results, loading left out. */
  readonly milliseconds: number;
}

export interface EmbedRequest extends EmbedOptions, ModelOptions {
  /** A reference, or a handle from `load`. Default: "builtin". */
  readonly model?: string | ModelHandle;
}

export interface ChunkRequest extends ChunkOptions, ModelOptions {
  /** Whose tokens are counted, and who is run by the strategies "semantic", "late" and "token-classification". Default: "builtin". */
  readonly model?: string | ModelHandle;
}

export interface ChunkResult {
  /** The reference of the model. */
  readonly model: string;
  /** Where the model ran; left out where it was asked for its tokenizer alone. */
  readonly target?: string;
  /** Why there; left out with `target`. */
  readonly decision?: Decision;
  /** One per text, in order. */
  readonly results: readonly ChunkedText[];
  /** From text to chunks, loading left out. */
  readonly milliseconds: number;
}

export interface EmbedResult extends Embeddings, TaskRun {}

export interface QuantizedEmbedRequest extends QuantizedEmbedOptions, ModelOptions {
  /** As of `EmbedRequest`. */
  readonly model?: string | ModelHandle;
}

/** `dimensions` counts those of the vectors before they were packed. */
export interface QuantizedEmbedResult extends Omit<EmbedResult, "embeddings">, QuantizedVectors {
  readonly precision: QuantizedPrecision;
}

export interface ClassifyRequest extends ClassifyOptions, ModelOptions {
  /** A reference, or a handle from `load`. */
  readonly model: string | ModelHandle;
}

export interface ClassifyResult extends Classifications, TaskRun {}

export interface EmbedSparseRequest extends EmbedSparseOptions, ModelOptions {
  /** A reference, or a handle from `load`. */
  readonly model: string | ModelHandle;
}

export interface EmbedSparseResult extends SparseEmbeddings, TaskRun {}

export interface RerankRequest extends RerankOptions, ModelOptions {
  /** A reference, or a handle from `load`: a cross-encoder, or an embedding model, whose cosines are taken then. Default: "builtin". */
  readonly model?: string | ModelHandle;
}

export interface RerankResult extends Ranking, TaskRun {}

export interface RecognizeRequest extends RecognizeOptions, ModelOptions {
  /** A reference, or a handle from `load`. */
  readonly model: string | ModelHandle;
}

export interface RecognizeResult extends Entities, TaskRun {}

export interface RunRequest extends ModelOptions {
  /** Names of the outputs wanted, at least one. Default: all. */
  readonly outputs?: readonly string[];
}

export interface RunResult extends TaskRun {
  /** By name. They belong to the caller. */
  readonly outputs: TensorMap;
}

export interface FillMaskRequest extends FillMaskOptions, ModelOptions {
  /** A reference, or a handle from `load`: a model with a masked-language-model head. */
  readonly model: string | ModelHandle;
}

export interface FillMaskResult extends MaskFills, TaskRun {}

export interface AnswerRequest extends AnswerOptions, ModelOptions {
  /** A reference, or a handle from `load`: a model with a question-answering head. */
  readonly model: string | ModelHandle;
}

export interface AnswerResult extends Answers, TaskRun {}

export interface SimilarityRequest extends SimilarityOptions, ModelOptions {
  /** A reference, or a handle from `load`: an embedding model. Default: "builtin". */
  readonly model?: string | ModelHandle;
}

export interface SimilarityResult extends Similarities, TaskRun {}

export interface ExtractRequest extends ExtractOptions, ModelOptions {
  /** For fields that are names: a token-classification model. Options that decide where it runs hold for both models. */
  readonly model?: string | ModelHandle;
  /** For fields that are answers: a question-answering model. */
  readonly questionModel?: string | ModelHandle;
}

/** `model`, `target` and `decision` are those of the model of names, or where there is none of the one that answers. */
export interface ExtractResult extends TaskRun {
  /** One per text, in order. */
  readonly results: readonly ExtractedFields[];
  /** The model that answers, where there is one of names too. */
  readonly questionRun?: Omit<TaskRun, "milliseconds">;
}
