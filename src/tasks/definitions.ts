/** The definitions of all tasks: input, output, models that serve each, method of `Runtime`, and command. `inferyard tasks` prints the table. */
import { getArchitectures } from "../models/huggingface/model-card.ts";
import type { ChunkOptions } from "./chunking/generated-chunk-options.ts";
import type { ChunkedTexts } from "./chunking/chunk.ts";
import type { ClassifyOptions } from "./classification/generated-classify-options.ts";
import type { EmbedOptions, QuantizedEmbedOptions } from "./embedding/embed-options.ts";
import type { QuantizedEmbeddings } from "./embedding/embed-quantized.ts";
import type { Embeddings } from "./embedding/embeddings.ts";
import type { EmbedOutputsOptions } from "./embedding/output-options.ts";
import type { TextPair } from "./encoding/encode-pairs.ts";
import type { Classifications } from "./encoding/label-head.ts";
import type { FillMaskOptions } from "./fill-mask/generated-fill-mask-options.ts";
import type { MaskFills } from "./fill-mask/fill-mask.ts";
import type { AnswerOptions } from "./question-answering/generated-answer-options.ts";
import type { Answers } from "./question-answering/answer.ts";
import type { QuestionPair } from "./question-answering/question-windows.ts";
import { readingTask } from "./reading/reading-task.ts";
import type { Ranking } from "./reranking/cross-encoder.ts";
import type { RerankOptions } from "./reranking/generated-rerank-options.ts";
import type { SimilarityOptions } from "./similarity/generated-similarity-options.ts";
import type { Similarities } from "./similarity/similarity.ts";
import type { EmbeddingOutputs } from "./sparse-embedding/embed-outputs.ts";
import type { EmbedSparseOptions } from "./sparse-embedding/generated-embed-sparse-options.ts";
import type { SparseEmbeddings } from "./sparse-embedding/sparse-vectors.ts";
import type { Entities } from "./token-classification/entities.ts";
import type { RecognizeOptions } from "./token-classification/generated-recognize-options.ts";
import { type Task, type TaskDescription, labelFiles, tokenizerFiles } from "./definition/task.ts";
import { audioClassificationTask, voiceActivityTask } from "./sound-definitions.ts";
import {
  imageClassificationTask,
  imageFeatureExtractionTask,
  objectDetectionTask,
  zeroShotImageClassificationTask,
} from "./vision-definitions.ts";

/** Chunks of long texts. Most strategies run on the model's tokenizer alone. */
export const chunkingTask: Task<readonly string[], ChunkOptions, ChunkedTexts> = {
  task: "chunking",
  verb: "chunk",
  command: "chunk",
  route: "/api/chunk",
  defaultModel: "builtin",
  input: "long texts",
  output: "parts of at most so many tokens",
  models: "any with a tokenizer",
  files: tokenizerFiles,
  pipeline: false,
  load: async () => {
    const [{ chunkWithModel, chunkWithTokenizer }, { chunkOptions }] = await Promise.all([
      import("./chunking/run-chunking.ts"),
      import("./chunking/chunk-options.ts"),
    ]);
    return { options: chunkOptions, tokenizerCall: chunkWithTokenizer, run: chunkWithModel };
  },
};

/** Labels of texts by a classifier; with the option `labels` this is `zero-shot-classification`. */
export const textClassificationTask: Task<readonly (string | TextPair)[], ClassifyOptions, Classifications> = {
  task: "text-classification",
  verb: "classify",
  command: "classify",
  route: "/api/classify",
  input: "texts, or pairs of texts",
  output: "labels with scores",
  models: getArchitectures("text-classification"),
  files: labelFiles,
  pipeline: true,
  load: async () => {
    const [{ classify }, { classifyOptions }] = await Promise.all([
      import("./classification/classify.ts"),
      import("./classification/classify-options.ts"),
    ]);
    return { options: classifyOptions, run: classify };
  },
};

/** Labels of your own for texts. `textClassificationTask` runs it. */
export const zeroShotClassificationTask: TaskDescription = {
  task: "zero-shot-classification",
  verb: "classify",
  command: "classify --labels",
  route: "/api/classify",
  input: "texts, and labels of your own",
  output: "those labels with scores",
  models: `${getArchitectures("text-classification")} with a label "entailment"`,
  files: labelFiles,
  pipeline: true,
};

/** The task `feature-extraction`: dense vectors of texts, quantized if the options name a precision other than float32. */
export const embeddingTask: Task<
  readonly string[],
  EmbedOptions | QuantizedEmbedOptions | EmbedOutputsOptions,
  Embeddings | QuantizedEmbeddings | EmbeddingOutputs
> = {
  task: "feature-extraction",
  verb: "embed",
  command: "embed",
  route: "/api/embed",
  defaultModel: "builtin",
  input: "texts; pictures, for a model of both",
  output: "a vector per text, or per token; with `outputs` several forms",
  models: "modules.json, a static embedding, or token vectors as output",
  files: tokenizerFiles,
  pipeline: true,
  load: async () => {
    const [{ embed }, { embedOptions, isQuantized }, { checkEmbeddingOutputs, hasOutputs }] = await Promise.all([
      import("./embedding/embed.ts"),
      import("./embedding/embed-options.ts"),
      import("./embedding/output-options.ts"),
    ]);
    const quantizing = () => import("./embedding/embed-quantized.ts"); // only pages that quantize download it
    const outputting = () => import("./sparse-embedding/embed-outputs.ts");
    return {
      options: embedOptions,
      check: async (options) => {
        if (hasOutputs(options)) checkEmbeddingOutputs(options);
        else if (isQuantized(options)) (await quantizing()).checkPrecision(options);
      },
      run: async (encoder, texts, options) => {
        if (hasOutputs(options)) return (await outputting()).embedOutputs(encoder, texts, options);
        return isQuantized(options)
          ? (await quantizing()).embedQuantized(encoder, texts, options)
          : embed(encoder, texts, options);
      },
    };
  },
};

/** Fields of a schema from texts. It runs on up to two models, so src/api/extract-fields.ts runs it instead of a `load` here. */
export const extractionTask: TaskDescription = {
  task: "extraction",
  verb: "extract",
  command: "extract",
  input: "texts and a schema of fields",
  output: "the fields of each text with scores and positions",
  models: `${getArchitectures("token-classification")}; ${getArchitectures("question-answering")} for fields that are questions`,
  files: labelFiles,
  pipeline: false,
};

/** The task `fill-mask`: candidate tokens for the mask tokens of texts. */
export const fillMaskTask: Task<readonly string[], FillMaskOptions, MaskFills> = {
  task: "fill-mask",
  verb: "fillMask",
  command: "fill-mask",
  route: "/api/fill-mask",
  input: "texts with mask tokens",
  output: "for each mask tokens with scores",
  models: getArchitectures("fill-mask"),
  files: tokenizerFiles,
  pipeline: true,
  load: async () => {
    const [{ fillMask }, { fillMaskOptions }] = await Promise.all([
      import("./fill-mask/fill-mask.ts"),
      import("./fill-mask/fill-mask-options.ts"),
    ]);
    return { options: fillMaskOptions, run: fillMask };
  },
};

/** The task `text-generation`: texts that follow prompts. */
export const generationTask: TaskDescription = {
  task: "text-generation",
  verb: "generate",
  command: "generate",
  route: "/api/generate",
  input: "prompts",
  output: "for each the text that follows",
  models: getArchitectures("text-generation"),
  files: tokenizerFiles,
  pipeline: true,
};

/** The task `chat`: answers to conversations. */
export const chatTask: TaskDescription = {
  task: "chat",
  verb: "chat",
  command: "chat",
  route: "/api/chat",
  input: "the messages of a conversation, and tools",
  output: "the next message: text, thoughts, calls of tools",
  models: `${getArchitectures("text-generation")} with a chat template`,
  files: ["tokenizer.json", "tokenizer_config.json or chat_template.jinja"],
  pipeline: false,
};

/** The task `text2text-generation`: texts rewritten by a model with an encoder and a decoder. */
export const rewritingTask: TaskDescription = {
  task: "text2text-generation",
  verb: "rewrite",
  command: "rewrite",
  route: "/api/rewrite",
  input: "texts",
  output: "for each its summary, its translation, or what else the model makes of it",
  models: getArchitectures("text2text-generation"),
  files: tokenizerFiles,
  pipeline: true,
};

/** Answers to questions in contexts. */
export const questionAnsweringTask: Task<readonly QuestionPair[], AnswerOptions, Answers> = {
  task: "question-answering",
  verb: "answer",
  command: "answer",
  route: "/api/answer",
  input: "questions and contexts",
  output: "pieces of the contexts with scores and positions",
  models: getArchitectures("question-answering"),
  files: tokenizerFiles,
  pipeline: true,
  load: async () => {
    const [{ answer }, { answerOptions }] = await Promise.all([
      import("./question-answering/answer.ts"),
      import("./question-answering/answer-options.ts"),
    ]);
    return { options: answerOptions, run: answer };
  },
};

/** The query and the documents to order. */
export interface RerankInput {
  readonly query: string;
  readonly documents: readonly string[];
}

/** Documents by relevance to a query. */
export const rerankingTask: Task<RerankInput, RerankOptions, Ranking> = {
  task: "text-ranking",
  verb: "rerank",
  command: "rerank",
  route: "/api/rerank",
  defaultModel: "builtin",
  input: "a query and documents",
  output: "the documents in order, with scores",
  models: `${getArchitectures("text-classification")} with one or two labels; any embedding model; a multi-vector model, or token vectors called "contextual"`,
  files: tokenizerFiles,
  pipeline: true,
  load: async () => {
    const [{ rerank }, { rerankOptions }] = await Promise.all([
      import("./reranking/rerank.ts"),
      import("./reranking/rerank-options.ts"),
    ]);
    return {
      options: rerankOptions,
      run: (encoder, { query, documents }, options) => rerank(encoder, query, documents, options),
    };
  },
};

/** Two lists of texts; every text of the first is compared with every text of the second. */
export interface SimilarityInput {
  readonly texts: readonly string[];
  readonly others: readonly string[];
}

/** Similarity matrix of two lists of texts. */
export const similarityTask: Task<SimilarityInput, SimilarityOptions, Similarities> = {
  task: "sentence-similarity",
  verb: "similarity",
  command: "similarity",
  defaultModel: "builtin",
  input: "texts, and texts to compare them with",
  output: "a score for each of the one with each of the other",
  models: "any embedding model",
  files: tokenizerFiles,
  pipeline: false,
  load: async () => {
    const [{ similarity }, { similarityOptions }] = await Promise.all([
      import("./similarity/similarity.ts"),
      import("./similarity/similarity-options.ts"),
    ]);
    return {
      options: similarityOptions,
      run: (encoder, { texts, others }, options) => similarity(encoder, texts, others, options),
    };
  },
};

/** Sparse vectors of texts over the vocabulary. */
export const sparseEmbeddingTask: Task<readonly string[], EmbedSparseOptions, SparseEmbeddings> = {
  task: "sparse-embedding",
  verb: "embedSparse",
  command: "embed --sparse",
  input: "texts",
  output: "weights of vocabulary tokens",
  models: `${getArchitectures("fill-mask")}; modules.json of a SparseEncoder; BGE-M3 with its sparse head`,
  files: tokenizerFiles,
  pipeline: false,
  load: async () => {
    const [{ embedSparse }, { embedSparseOptions }] = await Promise.all([
      import("./sparse-embedding/embed-sparse.ts"),
      import("./sparse-embedding/embed-sparse-options.ts"),
    ]);
    return { options: embedSparseOptions, run: embedSparse };
  },
};

/** The task `token-classification`: named entities in texts. */
export const tokenClassificationTask: Task<readonly string[], RecognizeOptions, Entities> = {
  task: "token-classification",
  verb: "recognize",
  command: "recognize",
  route: "/api/recognize",
  input: "texts",
  output: "names with their kinds and positions",
  models: `${getArchitectures("token-classification")}; gliner_config.json, for labels of your own`,
  files: labelFiles,
  pipeline: true,
  load: async () => {
    const [{ recognize }, { recognizeOptions }] = await Promise.all([
      import("./token-classification/recognize.ts"),
      import("./token-classification/recognize-options.ts"),
    ]);
    return { options: recognizeOptions, run: recognize };
  },
};

/** What was said in a sound, and when. It runs on the tokens of a language model, so src/api/media/transcription.ts runs it instead of a `load` here. */
export const transcriptionTask: TaskDescription = {
  task: "automatic-speech-recognition",
  verb: "transcribe",
  command: "transcribe",
  route: "/api/transcribe",
  input: "sound: a file, or samples",
  output: "text, language, segments and words with times",
  models: "Whisper…ForConditionalGeneration",
  files: [...tokenizerFiles, "generation_config.json"],
  pipeline: true,
};

/** All tasks, in the order of docs/reference/tasks.md. */
export const taskTable: readonly TaskDescription[] = [
  embeddingTask,
  sparseEmbeddingTask,
  rerankingTask,
  textClassificationTask,
  zeroShotClassificationTask,
  tokenClassificationTask,
  fillMaskTask,
  questionAnsweringTask,
  similarityTask,
  extractionTask,
  chunkingTask,
  generationTask,
  chatTask,
  rewritingTask,
  imageClassificationTask,
  zeroShotImageClassificationTask,
  objectDetectionTask,
  imageFeatureExtractionTask,
  transcriptionTask,
  voiceActivityTask,
  audioClassificationTask,
  readingTask,
];
