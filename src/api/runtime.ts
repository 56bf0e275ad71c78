/** The runtime that users hold: `ModelRuntime` with a method for each task. */
import type { Backend } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import type { TensorMap } from "../contract/tensor.ts";
import type { Manifest } from "../models/manifest.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { ModelRuntime } from "../runtime/model-runtime.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import type { RuntimeDisposeOptions, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { parseSequenceSettings } from "../runtime/options/sequence-settings.ts";
import type { Platform } from "../runtime/platform.ts";
import {
  chunkingTask,
  embeddingTask,
  fillMaskTask,
  questionAnsweringTask,
  rerankingTask,
  similarityTask,
  sparseEmbeddingTask,
  textClassificationTask,
  tokenClassificationTask,
} from "../tasks/definitions.ts";
import {
  imageClassificationTask,
  imageFeatureExtractionTask,
  mediaEmbeddingTask,
  objectDetectionTask,
} from "../tasks/vision-definitions.ts";
import type { MediaInput } from "../tasks/vision/embed-media.ts";
import type { PictureSource } from "../processors/images/picture-source.ts";
import type { TextPair } from "../tasks/encoding/encode-pairs.ts";
import { textSettings } from "../tasks/encoding/text-settings.ts";
import { TokenizerCache } from "../tasks/encoding/tokenizer-cache.ts";
import type { ChatEvent } from "../tasks/generation/chat/chat.ts";
import type { ChatMessage } from "../tasks/generation/chat/messages.ts";
import type { GenerationStream } from "../tasks/generation/generation-stream.ts";
import type { ConstraintCompiler, SequenceCounts } from "../tasks/generation/open-generator.ts";
import type { Prompt } from "../tasks/generation/text/prompt-tokens.ts";
import type { SoundInput, SpokenSound } from "../tasks/speech/sound-input.ts";
import type { TextWorkers } from "../tasks/text-threads/text-workers.ts";
import { createAnswerCheck } from "../tasks/verification/known-answers.ts";
import { readingTask } from "../tasks/reading/reading-task.ts";
import { audioClassificationTask, voiceActivityTask } from "../tasks/sound-definitions.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { requireMaxLength } from "../tokenizers/tokenizer-threads.ts";
import { EncoderTasks } from "./encoder-tasks.ts";
import { extractFields } from "./extract-fields.ts";
import type { Generation, GenerationParts } from "./generation.ts";
import { lazyMedia } from "./media/lazy-media.ts";
import type { MediaTasks } from "./media/media-tasks.ts";
import { holdModel, runTimed } from "./model-call.ts";
import { checkRunRequest, toList, toPictures, toSounds } from "./request-options.ts";
import type {
  AnswerRequest,
  AnswerResult,
  ChatPrompt,
  ChatPromptRequest,
  ChatRequest,
  ChatResult,
  ChunkRequest,
  ChunkResult,
  ClassifyRequest,
  ClassifyResult,
  EmbedOutputsRequest,
  EmbedOutputsResult,
  EmbedRequest,
  EmbedResult,
  EmbedSparseRequest,
  EmbedSparseResult,
  ExtractRequest,
  ExtractResult,
  FillMaskRequest,
  FillMaskResult,
  GenerateRequest,
  GenerateResult,
  QuantizedEmbedRequest,
  QuantizedEmbedResult,
  ReadRequest,
  ReadResult,
  RecognizeRequest,
  RecognizeResult,
  RerankRequest,
  RerankResult,
  RewriteRequest,
  RewriteResult,
  RunRequest,
  RunResult,
  SimilarityRequest,
  SimilarityResult,
  Texts,
  TranscribeRequest,
  TranscribeResult,
} from "./task-requests.ts";
import type * as vision from "./media/vision-requests.ts";
import type {
  ClassifySoundRequest,
  ClassifySoundResult,
  DetectSpeechRequest,
  DetectSpeechResult,
} from "./media/sound-requests.ts";
import type { TranscriptStream } from "./media/transcription.ts";

/** Threads of a runtime, ended with it. Default: the calling thread does their work. */
export interface RuntimeWorkers {
  /** Tokenize long texts and render chat templates. */
  readonly texts?: TextWorkers | undefined;
  readonly constraints?: ConstraintCompiler | undefined;
}

/**
 * Loads models and runs tasks on them. Every result says which target ran it and why. Dispose the runtime to free all models,
 * threads and processes. The code of a task is imported at its first use, so that a browser page downloads only what it needs.
 */
export class Runtime extends ModelRuntime {
  readonly #generationSettings: GenerationParts;
  readonly #workers: RuntimeWorkers;
  readonly #tokenizers: TokenizerCache;
  readonly #encoders: EncoderTasks;
  readonly #onMedia: () => Promise<MediaTasks>;
  #generation: Promise<Generation> | undefined;
  #sequences: () => readonly SequenceCounts[] = () => [];

  constructor(backends: readonly Backend[], settings: RuntimeSettings, platform: Platform, workers: RuntimeWorkers = {}) {
    const tokenizers = new TokenizerCache(workers.texts);
    super(backends, settings, createAnswerCheck(tokenizers), platform);
    this.#generationSettings = {
      limits: parseSequenceSettings(settings),
      templates: workers.texts,
      compiler: workers.constraints,
      unlistedMembers: settings.unlistedMembers,
    };
    this.#workers = workers;
    this.#tokenizers = tokenizers;
    this.#encoders = new EncoderTasks(this, tokenizers, settings, workers.texts);
    this.#onMedia = lazyMedia(this, tokenizers, settings);
  }

  /**
   * Embeds texts in several forms at once: dense, sparse, multi-vector (a vector per token). A model that gives several, as BGE-M3 does, is run once for all.
   * Throws MODEL_UNSUPPORTED for a form that the model does not give.
   */
  embed(texts: Texts, request: EmbedOutputsRequest): Promise<EmbedOutputsResult>;
  /**
   * Embeds texts: one float32 vector of `dimensions` numbers per text (task `feature-extraction`). A model given by reference
   * is loaded if necessary and released afterwards. Throws INPUT_INVALID for unknown options, and what loading throws.
   */
  embed(texts: Texts, request?: EmbedRequest): Promise<EmbedResult>;
  /** Embeds texts and quantizes the vectors to the requested precision. */
  embed(texts: Texts, request: QuantizedEmbedRequest): Promise<QuantizedEmbedResult>;
  /** Embeds texts and pictures in one space, by a model that reads both (CLIP, SigLIP). Vectors have unit length. */
  embed(inputs: MediaInput | readonly MediaInput[], request: vision.EmbedMediaRequest): Promise<vision.EmbedMediaResult>;
  async embed(
    inputs: Texts | MediaInput | readonly MediaInput[],
    request: EmbedRequest | QuantizedEmbedRequest | EmbedOutputsRequest | vision.EmbedMediaRequest = {},
  ): Promise<EmbedResult | QuantizedEmbedResult | EmbedOutputsResult | vision.EmbedMediaResult> {
    const list = toList<MediaInput>(inputs);
    const texts = list.filter((input) => typeof input !== "object" || input === null);
    if (texts.length < list.length || (await this.#encoders.readsPictures(request)))
      return (await this.#onMedia()).perform(mediaEmbeddingTask, list, request);
    return this.#encoders.perform(embeddingTask, texts, request);
  }

  /**
   * Classifies pictures: labels with scores (tasks `image-classification` and, with `labels`, `zero-shot-image-classification`). A picture is its bytes, a blob,
   * a data URL or the path of a file.
   */
  async classifyImage(pictures: vision.Pictures, request: vision.ClassifyImageRequest): Promise<vision.ClassifyImageResult> {
    return (await this.#onMedia()).perform(imageClassificationTask, toPictures(pictures), request);
  }

  /** Detects things in pictures: labels, scores and boxes in pixels (task `object-detection`). */
  async detectObjects(pictures: vision.Pictures, request: vision.DetectObjectsRequest): Promise<vision.DetectObjectsResult> {
    return (await this.#onMedia()).perform(objectDetectionTask, toPictures(pictures), request);
  }

  /** Hidden states of pictures, or with `pool` one vector for each (task `image-feature-extraction`). */
  async imageFeatures(pictures: vision.Pictures, request: vision.ImageFeaturesRequest): Promise<vision.ImageFeaturesResult> {
    return (await this.#onMedia()).perform(imageFeatureExtractionTask, toPictures(pictures), request);
  }

  /**
   * Embeds texts as sparse vectors: weights of vocabulary tokens. Needs a model with a masked-language-model head (SPLADE, Formal et al. 2021), the sparse
   * head of BGE-M3, or a sparse autoencoder (CSR).
   */
  async embedSparse(texts: Texts, request: EmbedSparseRequest): Promise<EmbedSparseResult> {
    return this.#encoders.perform(sparseEmbeddingTask, toList(texts), request);
  }

  /** Classifies texts or pairs of texts: labels with scores (tasks `text-classification` and `zero-shot-classification`). */
  async classify(texts: string | TextPair | readonly (string | TextPair)[], request: ClassifyRequest): Promise<ClassifyResult> {
    return this.#encoders.perform(textClassificationTask, toList(texts), request);
  }

  /** Sorts documents by their relevance to a query (task `text-ranking`). */
  async rerank(query: string, documents: readonly string[], request: RerankRequest = {}): Promise<RerankResult> {
    return this.#encoders.perform(rerankingTask, { query, documents }, request);
  }

  /** Recognizes named entities in texts, with their positions (task `token-classification`). */
  async recognize(texts: Texts, request: RecognizeRequest): Promise<RecognizeResult> {
    return this.#encoders.perform(tokenClassificationTask, toList(texts), request);
  }

  /** Predicts tokens for the mask tokens of texts (task `fill-mask`). */
  async fillMask(texts: Texts, request: FillMaskRequest): Promise<FillMaskResult> {
    return this.#encoders.perform(fillMaskTask, toList(texts), request);
  }

  /**
   * Extracts answers to questions from contexts (task `question-answering`). One question may be paired with many contexts, and
   * one context with many questions; two lists are paired item by item.
   */
  async answer(questions: Texts, contexts: Texts, request: AnswerRequest): Promise<AnswerResult> {
    const { questionPairs } = await import("../tasks/question-answering/answer.ts");
    return this.#encoders.perform(questionAnsweringTask, questionPairs(questions, contexts), request);
  }

  /**
   * Similarity of each text of one list with each text of another (task `sentence-similarity`). If both lists are the same, the
   * texts are embedded once.
   */
  async similarity(texts: Texts, others: Texts, request: SimilarityRequest = {}): Promise<SimilarityResult> {
    return this.#encoders.perform(similarityTask, { texts: toList(texts), others: toList(others) }, request);
  }

  /** Extracts the fields of a schema from texts: entities as `recognize` does, answers as `answer` does. */
  async extract(texts: Texts, request: ExtractRequest): Promise<ExtractResult> {
    return extractFields(this.#encoders, toList(texts), request);
  }

  /**
   * Splits long texts into chunks of at most a given number of tokens, without losing text between them. Strategies that run a
   * model load it; the others read its tokenizer only.
   */
  async chunk(texts: Texts, request: ChunkRequest = {}): Promise<ChunkResult> {
    const list = toList(texts);
    const { texts: readers } = this.#workers;
    if (readers !== undefined) for (const text of list) requireMaxLength(text.length, "characters", readers);
    return (
      (await this.#encoders.performOnTokenizer(chunkingTask, list, request)) ??
      this.#encoders.perform(chunkingTask, list, request)
    );
  }

  /**
   * Reads the text of a page: lines in the order of reading, with scores and boxes (task `optical-character-recognition`). The picture is given as bytes, path, data
   * URL, Blob or decoded samples. Throws MODEL_UNSUPPORTED for a model that reads no pages, INPUT_INVALID for a damaged picture, LIMIT_EXCEEDED for one that is too
   * large, and MEDIA_TYPE_UNSUPPORTED for other files.
   */
  async read(picture: PictureSource, request: ReadRequest): Promise<ReadResult> {
    return (await this.#onMedia()).perform(readingTask, picture, request);
  }

  /**
   * Runs any model on tensors by input name, without tokenizer or task. `model`: a reference, or a handle from `load`. Throws
   * INPUT_INVALID that lists every input that does not fit, and MODEL_UNSUPPORTED if a requested output is not a tensor.
   */
  async run(model: string | ModelHandle, tensors: TensorMap, request: RunRequest = {}): Promise<RunResult> {
    const { outputs, ...options } = request;
    checkRunRequest(tensors, request);
    const wanted = omitUndefined({ outputs, signal: options.signal });
    const { handle, release } = await holdModel(this, { verb: "run", optionNames: [], request: { ...options, model } });
    try {
      return await runTimed(handle, async () => ({ outputs: await handle.run(tensors, wanted) }));
    } finally {
      await release();
    }
  }

  /**
   * Generates what follows prompts, which are texts or lists of token ids (task `text-generation`). Prompts are generated together; each has the result
   * that it has alone. With `stream: true` the texts arrive token by token. Throws INPUT_INVALID, and INPUT_TOO_LONG for a prompt that fills the context.
   */
  generate(
    prompts: Prompt | readonly Prompt[],
    request: GenerateRequest & { readonly stream: true },
  ): Promise<GenerationStream<GenerateResult>>;
  /** Generates what follows prompts, and returns the texts when all are finished. */
  generate(prompts: Prompt | readonly Prompt[], request: GenerateRequest & { readonly stream?: false }): Promise<GenerateResult>;
  async generate(
    prompts: Prompt | readonly Prompt[],
    request: GenerateRequest & { readonly stream?: boolean },
  ): Promise<GenerateResult | GenerationStream<GenerateResult>> {
    const stream = await (await this.#generating()).generate(prompts, request);
    return request.stream === true ? stream : stream.finish();
  }

  /**
   * Answers a conversation with the model's own chat template (task `chat`): text, thoughts and calls of tools, each apart. With `stream: true` they arrive as
   * they are generated. Throws INPUT_INVALID, MODEL_UNSUPPORTED for a model without a chat template, and INPUT_TOO_LONG.
   */
  chat(
    messages: readonly ChatMessage[],
    request: ChatRequest & { readonly stream: true },
  ): Promise<GenerationStream<ChatResult, ChatEvent>>;
  /** Answers a conversation, and returns the message when it is finished. */
  chat(messages: readonly ChatMessage[], request: ChatRequest & { readonly stream?: false }): Promise<ChatResult>;
  async chat(
    messages: readonly ChatMessage[],
    request: ChatRequest & { readonly stream?: boolean },
  ): Promise<ChatResult | GenerationStream<ChatResult, ChatEvent>> {
    const stream = await (await this.#generating()).chat(messages, request);
    return request.stream === true ? stream : stream.finish();
  }

  /** The prompt that `chat` gives the model for a conversation. Reads the model's files, and does not load it. Throws as `chat` does. */
  async chatPrompt(messages: readonly ChatMessage[], request: ChatPromptRequest): Promise<ChatPrompt> {
    refuseUnknown(request, chatPromptFields, "chatPrompt");
    const { model, signal } = request;
    const manifest = typeof model === "string" ? await this.manifest(model, omitUndefined({ signal })) : model.manifest;
    const tokenizer = await this.getTokenizer(manifest);
    return (await this.#generating()).prompt(messages, manifest, tokenizer, request);
  }

  /** Number of texts in generation, and number of texts that wait for their turn, by model. */
  sequences(): readonly SequenceCounts[] {
    return this.#sequences();
  }

  /** Summarizes, translates or otherwise rewrites texts with a model that has an encoder and a decoder (task `text2text-generation`). */
  rewrite(texts: Texts, request: RewriteRequest & { readonly stream: true }): Promise<GenerationStream<RewriteResult>>;
  /** Rewrites texts, and returns them when all are finished. */
  rewrite(texts: Texts, request: RewriteRequest & { readonly stream?: false }): Promise<RewriteResult>;
  async rewrite(
    texts: Texts,
    request: RewriteRequest & { readonly stream?: boolean },
  ): Promise<RewriteResult | GenerationStream<RewriteResult>> {
    const stream = await (await this.#generating()).rewrite(texts, request);
    return request.stream === true ? stream : stream.finish();
  }

  /** Finds the segments of a sound in which somebody speaks (task `voice-activity-detection`), by Silero's network. */
  async detectSpeech(sound: SoundInput, request: DetectSpeechRequest): Promise<DetectSpeechResult> {
    return (await this.#onMedia()).perform(voiceActivityTask, sound, request);
  }

  /** Classifies sounds: labels with scores (task `audio-classification`). */
  async classifySound(sounds: SoundInput | readonly SoundInput[], request: ClassifySoundRequest): Promise<ClassifySoundResult> {
    return (await this.#onMedia()).perform(audioClassificationTask, toSounds(sounds), request);
  }

  /** Transcribes speech (task `automatic-speech-recognition`). The stream gives each segment once it is final; of chunks, while the sound comes in. */
  transcribe(sound: SpokenSound, request: TranscribeRequest & { readonly stream: true }): Promise<TranscriptStream>;
  /** Transcribes a sound, and returns the whole transcript. */
  transcribe(sound: SpokenSound, request: TranscribeRequest & { readonly stream?: false }): Promise<TranscribeResult>;
  async transcribe(sound: SpokenSound, request: TranscribeRequest): Promise<TranscribeResult | TranscriptStream> {
    const media = await this.#onMedia();
    const stream = (await media.transcribesByCtc(request))
      ? (await import("./media/ctc-transcription.ts")).startCtcTranscription(media, sound, request)
      : await (await import("./media/transcription.ts")).startTranscription(this, this.#tokenizers, sound, request);
    return request.stream === true ? stream : stream.finish();
  }

  /** The tokenizer of a loaded model. */
  tokenizer(handle: ModelHandle): Promise<Tokenizer> {
    return this.getTokenizer(handle.manifest);
  }

  /** The tokenizer of a model that is not loaded. */
  getTokenizer(manifest: Manifest): Promise<Tokenizer> {
    return this.#tokenizers.get(textSettings(manifest));
  }

  override async dispose(options?: RuntimeDisposeOptions): Promise<void> {
    const { texts, constraints } = this.#workers;
    await Promise.all([super.dispose(options), texts?.dispose(), constraints?.host.dispose()]);
  }

  #generating(): Promise<Generation> {
    this.#generation ??= import("./generation.ts").then(({ Generation }) => {
      const made = new Generation(this, this.#tokenizers, this.#generationSettings);
      this.#sequences = () => made.sequences;
      return made;
    });
    return this.#generation;
  }
}

const chatPromptFields = [
  "model",
  "template",
  "date",
  "continueFinalMessage",
  "addSpecialTokens",
  "tools",
  "toolChoice",
  "templateVariables",
  "signal",
];

/** Loads the models that the settings name for preloading and returns the runtime. Disposes it if a load fails. */
export async function preloaded(runtime: Runtime): Promise<Runtime> {
  try {
    await runtime.preload();
    return runtime;
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}
