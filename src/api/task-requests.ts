/** Requests and results of the runtime's methods: the options and results of each task, and where it ran. */
import type { Decision } from "../runtime/decision/decision.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";
import type { Answers } from "../tasks/question-answering/answer.ts";
import type { AnswerOptions } from "../tasks/question-answering/generated-answer-options.ts";
import type { ChunkedText } from "../tasks/text-threads/chunked-text.ts";
import type { ChunkOptions } from "../tasks/chunking/generated-chunk-options.ts";
import type { ClassifyOptions } from "../tasks/classification/generated-classify-options.ts";
import type { EmbedOptions, QuantizedEmbedOptions } from "../tasks/embedding/embed-options.ts";
import type { SparseEmbeddings } from "../tasks/sparse-embedding/sparse-vectors.ts";
import type { EmbedSparseOptions } from "../tasks/sparse-embedding/generated-embed-sparse-options.ts";
import type { EmbedOutputsOptions } from "../tasks/embedding/output-options.ts";
import type { EmbeddingOutputs } from "../tasks/sparse-embedding/embed-outputs.ts";
import type { Embeddings } from "../tasks/embedding/embeddings.ts";
import type { ExtractedFields } from "../tasks/extraction/extract.ts";
import type { ExtractOptions } from "../tasks/extraction/generated-extract-options.ts";
import type { MaskFills } from "../tasks/fill-mask/fill-mask.ts";
import type { FillMaskOptions } from "../tasks/fill-mask/generated-fill-mask-options.ts";
import type { Classifications } from "../tasks/encoding/label-head.ts";
import type { QuantizedVectors } from "../tasks/embedding/quantize.ts";
import type { QuantizedPrecision } from "../tasks/embedding/precisions.ts";
import type { Entities } from "../tasks/token-classification/entities.ts";
import type { ReadPageOptions } from "../tasks/reading/read-options.ts";
import type { ReadPage } from "../tasks/reading/read-page.ts";
import type { RecognizeOptions } from "../tasks/token-classification/generated-recognize-options.ts";
import type { Ranking } from "../tasks/reranking/cross-encoder.ts";
import type { RerankOptions } from "../tasks/reranking/generated-rerank-options.ts";
import type { Similarities } from "../tasks/similarity/similarity.ts";
import type { SimilarityOptions } from "../tasks/similarity/generated-similarity-options.ts";
import type { ChatAnswerMessage, ChatAnswer } from "../tasks/generation/chat/chat.ts";
import type { ChatOptions } from "../tasks/generation/chat/generated-chat-options.ts";
import type { RewriteOptions } from "../tasks/generation/rewrite/generated-rewrite-options.ts";
import type { GenerateOptions } from "../tasks/generation/generated-generate-options.ts";
import type { GeneratedText } from "../tasks/generation/generated-text.ts";
import type { TranscribeOptions } from "../tasks/speech/transcribe-options.ts";
import type { Transcript } from "../tasks/speech/transcript.ts";
import type { TensorMap } from "../contract/tensor.ts";

/** Fields that every result has. */
export interface TaskRun {
  /** Reference of the model. */
  readonly model: string;
  /** Target that it ran on, for example "onnx:cpu". */
  readonly target: string;
  /** The decision that led to this target. */
  readonly decision: Decision;
  /** Milliseconds from the input to the results, loading excluded. */
  readonly milliseconds: number;
}

/** One text, or several. */
export type Texts = string | readonly string[];

/** A request of a task: the options of the task, the options of loading, and the model. */
export type TaskRequest<Options> = Options &
  ModelOptions & {
    /** Reference of the model, or a handle from `load`. */
    readonly model: string | ModelHandle;
  };

/** A request of a task that has a default model. */
export type DefaultedRequest<Options> = Options &
  ModelOptions & {
    /** Reference of the model, or a handle from `load`. Default: "builtin". */
    readonly model?: string | ModelHandle;
  };

/** A request of a language model that may have a draft model. */
export type DraftedRequest<Options> = TaskRequest<Omit<Options, "stream">> & {
  /**
   * A smaller model with the same tokens, which drafts tokens that the model then checks in one call. The text does not change. A reference is loaded as the
   * runtime's settings say; a handle may be on another target. Default: none.
   */
  readonly draftModel?: string | ModelHandle;
};

/** Options of `transcribe`. */
export type TranscribeRequest = TaskRequest<TranscribeOptions>;

/** Result of `transcribe`. */
export type TranscribeResult = Transcript & TaskRun;

/** Options of `embed`. */
export type EmbedRequest = DefaultedRequest<EmbedOptions>;

/** Options of `chunk`. The tokens of its model are counted, and the strategies "semantic", "late" and "token-classification" run it. */
export type ChunkRequest = DefaultedRequest<ChunkOptions>;

/** Result of `chunk`. */
export interface ChunkResult {
  /** Reference of the model. */
  readonly model: string;
  /** Target that the model ran on. Undefined if only its tokenizer was used. */
  readonly target?: string;
  /** The decision that led to this target. Undefined if only the tokenizer was used. */
  readonly decision?: Decision;
  /** One result per text, in order. */
  readonly results: readonly ChunkedText[];
  /** Milliseconds from the texts to the chunks, loading excluded. */
  readonly milliseconds: number;
}

/** Result of `embed`: one float32 vector per text. */
export interface EmbedResult extends Embeddings, TaskRun {}

/** Options of `embed` with a quantized precision. */
export type QuantizedEmbedRequest = DefaultedRequest<QuantizedEmbedOptions>;

/** Result of a quantized `embed`. `dimensions` is the number of dimensions before packing. */
export interface QuantizedEmbedResult extends Omit<EmbedResult, "embeddings">, QuantizedVectors {
  readonly precision: QuantizedPrecision;
}

/** Options of `embed` with `outputs`. */
export type EmbedOutputsRequest = DefaultedRequest<EmbedOutputsOptions>;

/** Result of `embed` with `outputs`: dense vectors, sparse vectors and token vectors of each text, if they were requested. */
export interface EmbedOutputsResult extends EmbeddingOutputs, TaskRun {}

/** Options of `classify`. */
export type ClassifyRequest = TaskRequest<ClassifyOptions>;

/** Result of `classify`: labels with scores per text. */
export interface ClassifyResult extends Classifications, TaskRun {}

/** Options of `embedSparse`. */
export type EmbedSparseRequest = TaskRequest<EmbedSparseOptions>;

/** Result of `embedSparse`: weights of vocabulary tokens per text. */
export interface EmbedSparseResult extends SparseEmbeddings, TaskRun {}

/** Options of `rerank`. The model is a cross-encoder, a model with token vectors, which ranks by MaxSim, or an embedding model, which ranks by cosine similarity. */
export type RerankRequest = DefaultedRequest<RerankOptions>;

/** Result of `rerank`: documents by decreasing relevance. */
export interface RerankResult extends Ranking, TaskRun {}

/** Options of `recognize`. */
export type RecognizeRequest = TaskRequest<RecognizeOptions>;

/** Result of `recognize`: entities per text. */
export interface RecognizeResult extends Entities, TaskRun {}

/** Options of `run`. */
export interface RunRequest extends ModelOptions {
  /** Names of the outputs to compute, at least one. Default: all. */
  readonly outputs?: readonly string[];
}

/** Result of `run`. */
export interface RunResult extends TaskRun {
  /** Output tensors by name. They belong to the caller. */
  readonly outputs: TensorMap;
}

/** Options of `fillMask`. The model has a masked-language-model head. */
export type FillMaskRequest = TaskRequest<FillMaskOptions>;

/** Result of `fillMask`: tokens with scores per mask. */
export interface FillMaskResult extends MaskFills, TaskRun {}

/** Options of `answer`. The model has a question-answering head. */
export type AnswerRequest = TaskRequest<AnswerOptions>;

/** Result of `answer`: answers per question. */
export interface AnswerResult extends Answers, TaskRun {}

/** Options of `similarity`. The model gives embeddings. */
export type SimilarityRequest = DefaultedRequest<SimilarityOptions>;

/** Result of `similarity`: a matrix of scores. */
export interface SimilarityResult extends Similarities, TaskRun {}

/** Options of `extract`. */
export interface ExtractRequest extends ExtractOptions, ModelOptions {
  /** Reference or handle of a token-classification model, for fields that are entities. Placement options apply to both models. */
  readonly model?: string | ModelHandle;
  /** Reference or handle of a question-answering model, for fields that are answers. */
  readonly questionModel?: string | ModelHandle;
}

/** Result of `extract`. `model`, `target` and `decision` describe the token-classification model, or the question-answering model if there is no other. */
export interface ExtractResult extends TaskRun {
  /** One result per text, in order. */
  readonly results: readonly ExtractedFields[];
  /** The run of the question-answering model, if both models ran. */
  readonly questionRun?: Omit<TaskRun, "milliseconds">;
}

/** Options of `generate`. */
export type GenerateRequest = DraftedRequest<GenerateOptions>;

/** Result of `generate`. */
export interface GenerateResult extends TaskRun {
  /** The texts: `n` for each prompt, one after another. A beam search may find fewer. */
  readonly results: readonly GeneratedText[];
}

/** Options of `chat`. The model has a chat template. */
export type ChatRequest = DraftedRequest<ChatOptions>;

/** Result of `chat`. */
export interface ChatResult extends TaskRun {
  /** The answer, to be added to the conversation; the first of `n`. */
  readonly message: ChatAnswerMessage;
  /** All `n` answers. */
  readonly results: readonly ChatAnswer[];
}

/** Options of `read`. The model is a folder with the networks of PP-OCR. */
export type ReadRequest = TaskRequest<ReadPageOptions>;

/** Result of `read`: the lines of the page in the order of reading. `target` and `decision` belong to the recognizer. */
export interface ReadResult extends ReadPage, TaskRun {}

/** Options of `rewrite`. The model has an encoder and a decoder. */
export type RewriteRequest = TaskRequest<Omit<RewriteOptions, "stream">>;

/** Result of `rewrite`. */
export interface RewriteResult extends TaskRun {
  /** The texts: `n` for each given one, one after another. A beam search may find fewer. */
  readonly results: readonly GeneratedText[];
}

/** Options of `chatPrompt`. */
export interface ChatPromptRequest extends Pick<ChatOptions, "tools" | "toolChoice" | "templateVariables" | "signal"> {
  /** Reference or handle of a model with a chat template. */
  readonly model: string | ModelHandle;
  /** A chat template (Jinja) instead of the model's own. */
  readonly template?: string;
  /** Date and time that the template gets as the current one. Default: now. */
  readonly date?: Date;
  /** Whether the prompt ends with the content of the last message, so that the model continues it, and not with the beginning of an answer. Default: false. */
  readonly continueFinalMessage?: boolean;
  /** Whether the tokenizer adds special tokens in addition to those in the template's text. Default: false. */
  readonly addSpecialTokens?: boolean;
}

/** Result of `chatPrompt`. */
export interface ChatPrompt {
  /** The conversation as the model's chat template writes it. */
  readonly text: string;
  /** Token ids of the prompt. */
  readonly tokens: readonly number[];
}
