/**
 * The part of the runtime that runs tasks on encoders, the models that read texts; `ModelRuntime` loads them. Each task is imported at its
 * first use, so that a browser page downloads only the tasks it needs.
 */
import type { Backend } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import { ModelHandle } from "../runtime/model-handle.ts";
import { ModelRuntime } from "../runtime/model-runtime.ts";
import type { ModelOptions, RuntimeDisposeOptions, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { modelOptionNames, refuseUnknown } from "../runtime/options/options.ts";
import type { Platform } from "../runtime/platform.ts";
import type { LoadHooks } from "../runtime/residency/shared-models.ts";
import type { TensorMap } from "../contract/tensor.ts";
import type { TextPair } from "../tasks/encoding/encode-pairs.ts";
import { textSettings } from "../tasks/encoding/text-settings.ts";
import type { DynamicBatcher } from "../tasks/batching/dynamic-batcher.ts";
import type { TextWorkers } from "../tasks/text-threads/text-workers.ts";
import type { Encoder } from "../tasks/batching/run-encodings.ts";
import { requireServed } from "../tasks/batching/unloaded-encoder.ts";
import { createAnswerCheck } from "../tasks/verification/known-answers.ts";
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
import type { Task } from "../tasks/definition/define-task.ts";
import { TokenizerCache } from "../tasks/encoding/tokenizer-cache.ts";
import type { Manifest, TextSettings } from "../models/manifest.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import { requireMaxLength } from "../tokenizers/tokenizer-threads.ts";
import { extractFields } from "./extract-fields.ts";
import {
  type ModelRequest,
  checkRunRequest,
  modelOptions,
  refuseLoadOptions,
  refusePlacementOptions,
  toList,
} from "./request-options.ts";
import type {
  AnswerRequest,
  AnswerResult,
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
  QuantizedEmbedRequest,
  QuantizedEmbedResult,
  RecognizeRequest,
  RecognizeResult,
  RerankRequest,
  RerankResult,
  RunRequest,
  RunResult,
  SimilarityRequest,
  SimilarityResult,
  TaskRun,
} from "./task-requests.ts";

/**
 * Milliseconds for which the tokenizer of an unloaded model is cached. Reading one takes about 0.1 s; a changed file is read
 * again after this time.
 */
const tokenizerCacheMs = 60_000;

interface CachedTokenizer {
  readonly text: TextSettings;
  readonly tokenizer: Tokenizer;
}

/** One call of a task: its definition, input and options. */
export interface TaskCall {
  /** Name of the method, for errors. */
  readonly verb: string;
  /** Names of the task's own options. Options of loading are permitted as well. */
  readonly optionNames: readonly string[];
  readonly request: ModelRequest;
}

/** Runs tasks on models that read texts. `Runtime` adds those that write them. */
export class EncoderRuntime extends ModelRuntime {
  readonly #tokenizers: TokenizerCache;
  readonly #textReaders: TextWorkers | undefined;
  readonly #shareBatches: boolean;
  readonly #onBatch: RuntimeSettings["onBatch"];
  /** One for each loaded model. */
  readonly #batchPools = new WeakMap<ModelHandle["model"], DynamicBatcher>();
  /** Tokenizers of models that were used for nothing else. */
  readonly #tokenizerCache = new Map<string, CachedTokenizer>();

  /** `readers`: threads that tokenize long texts, ended with the runtime. Default: the calling thread does it. */
  constructor(backends: readonly Backend[], settings: RuntimeSettings, platform: Platform, readers?: TextWorkers) {
    const tokenizers = new TokenizerCache(readers);
    super(backends, settings, createAnswerCheck(tokenizers), platform);
    this.#tokenizers = tokenizers;
    this.#textReaders = readers;
    this.#shareBatches = settings.shareBatches ?? false;
    this.#onBatch = settings.onBatch;
  }

  /**
   * Embeds texts in several forms at once: dense, sparse, multi-vector (a vector per token). A model that gives several, as BGE-M3 does, is run once for all.
   * Throws MODEL_UNSUPPORTED for a form that the model does not give.
   */
  embed(texts: string | readonly string[], request: EmbedOutputsRequest): Promise<EmbedOutputsResult>;
  /**
   * Embeds texts: one float32 vector of `dimensions` numbers per text (task `feature-extraction`). A model given by reference is loaded if necessary and
   * released afterwards. Throws INPUT_INVALID for unknown options, and errors of loading.
   */
  embed(texts: string | readonly string[], request?: EmbedRequest): Promise<EmbedResult>;
  /** Embeds texts and quantizes the vectors to the requested precision. */
  embed(texts: string | readonly string[], request: QuantizedEmbedRequest): Promise<QuantizedEmbedResult>;
  async embed(
    texts: string | readonly string[],
    request: EmbedRequest | QuantizedEmbedRequest | EmbedOutputsRequest = {},
  ): Promise<EmbedResult | QuantizedEmbedResult | EmbedOutputsResult> {
    return this.#perform(embeddingTask, toList(texts), request);
  }

  /**
   * Embeds texts as sparse vectors: weights of vocabulary tokens. Needs a model with a masked-language-model head (SPLADE, Formal et al. 2021), the sparse
   * head of BGE-M3, or a sparse autoencoder (CSR).
   */
  async embedSparse(texts: string | readonly string[], request: EmbedSparseRequest): Promise<EmbedSparseResult> {
    return this.#perform(sparseEmbeddingTask, toList(texts), request);
  }

  /** Classifies texts or pairs of texts: labels with scores (tasks `text-classification` and `zero-shot-classification`). */
  async classify(texts: string | TextPair | readonly (string | TextPair)[], request: ClassifyRequest): Promise<ClassifyResult> {
    return this.#perform(textClassificationTask, toList(texts), request);
  }

  /** Sorts documents by their relevance to a query (task `text-ranking`). */
  async rerank(query: string, documents: readonly string[], request: RerankRequest = {}): Promise<RerankResult> {
    return this.#perform(rerankingTask, { query, documents }, request);
  }

  /** Recognizes named entities in texts, with their positions (task `token-classification`). */
  async recognize(texts: string | readonly string[], request: RecognizeRequest): Promise<RecognizeResult> {
    return this.#perform(tokenClassificationTask, toList(texts), request);
  }

  /** Predicts tokens for the mask tokens of texts (task `fill-mask`). */
  async fillMask(texts: string | readonly string[], request: FillMaskRequest): Promise<FillMaskResult> {
    return this.#perform(fillMaskTask, toList(texts), request);
  }

  /**
   * Extracts answers to questions from contexts (task `question-answering`). One question may be paired with many contexts, and
   * one context with many questions; two lists are paired item by item.
   */
  async answer(
    questions: string | readonly string[],
    contexts: string | readonly string[],
    request: AnswerRequest,
  ): Promise<AnswerResult> {
    const { questionPairs } = await import("../tasks/question-answering/answer.ts");
    return this.#perform(questionAnsweringTask, questionPairs(questions, contexts), request);
  }

  /**
   * Similarity of each text of one list with each text of another (task `sentence-similarity`). If both lists are the same, the
   * texts are embedded once.
   */
  async similarity(
    texts: string | readonly string[],
    others: string | readonly string[],
    request: SimilarityRequest = {},
  ): Promise<SimilarityResult> {
    return this.#perform(similarityTask, { texts: toList(texts), others: toList(others) }, request);
  }

  /** Extracts the fields of a schema from texts: entities as `recognize` does, answers as `answer` does. */
  async extract(texts: string | readonly string[], request: ExtractRequest): Promise<ExtractResult> {
    const runOnModel = <Result>(one: ModelRequest, work: (encoder: Encoder) => Promise<Result>): Promise<Result & TaskRun> =>
      this.#onEncoder({ verb: "extract", optionNames: Object.keys(one), request: one }, work);
    return extractFields(runOnModel, toList(texts), request);
  }

  /**
   * Splits long texts into chunks of at most a given number of tokens, without losing text between them. Strategies that run a
   * model load it; the others read its tokenizer only.
   */
  async chunk(texts: string | readonly string[], request: ChunkRequest = {}): Promise<ChunkResult> {
    const list = toList(texts);
    if (this.#textReaders !== undefined) for (const text of list) requireMaxLength(text.length, "characters", this.#textReaders);
    return (await this.#performOnTokenizer(chunkingTask, list, request)) ?? this.#perform(chunkingTask, list, request);
  }

  /**
   * Runs any model on tensors by input name, without tokenizer or task. `model`: a reference, or a handle from `load`. Throws
   * INPUT_INVALID that lists every input that does not fit, and MODEL_UNSUPPORTED if a requested output is not a tensor.
   */
  async run(model: string | ModelHandle, tensors: TensorMap, request: RunRequest = {}): Promise<RunResult> {
    const { outputs, ...options } = request;
    checkRunRequest(tensors, request);
    const { signal } = options;
    const wanted = { ...omitUndefined({ outputs, signal }) };
    return this.onModel({ verb: "run", optionNames: [], request: { ...options, model } }, async (handle) => async () => ({
      outputs: await handle.run(tensors, wanted),
    }));
  }

  /** The tokenizer of a loaded model. */
  tokenizer(handle: ModelHandle): Promise<Tokenizer> {
    return this.getTokenizer(handle.manifest);
  }

  /** The tokenizer of a model that is not loaded. */
  getTokenizer(manifest: Manifest): Promise<Tokenizer> {
    return this.#tokenizers.get(textSettings(manifest));
  }

  /** Runs a task on the model of a request. */
  async #perform<Input, Options extends object, Result>(
    task: Task<Input, Options, Result>,
    input: Input,
    request: Options & ModelRequest,
  ): Promise<Result & TaskRun> {
    const { options, check, run } = await task.load();
    const call = { verb: task.verb, optionNames: Object.keys(options), request: { model: task.defaultModel, ...request } };
    refuseUnknownOptions(call);
    await check?.(request);
    return this.#onEncoder(call, (encoder) => run(encoder, input, request));
  }

  /** Runs a task on the tokenizer of a request's model. Undefined if the options need the model itself. */
  async #performOnTokenizer<Input, Options extends object, Result>(
    task: Task<Input, Options, Result>,
    input: Input,
    request: Options & ModelRequest,
  ): Promise<(Result & Pick<TaskRun, "model" | "milliseconds">) | undefined> {
    const { options, tokenizerCall } = await task.load();
    const { model = task.defaultModel, ...given }: ModelRequest = request;
    refuseUnknownOptions({ verb: task.verb, optionNames: Object.keys(options), request });
    const call = tokenizerCall?.(request);
    if (call === undefined || model === undefined) return undefined;
    const placement = modelOptions(given);
    if (model instanceof ModelHandle) refuseLoadOptions(placement);
    else refusePlacementOptions(placement, call);
    const cached = await this.#getTokenizer(model, placement);
    const started = performance.now();
    const result = await call.run({ ...cached, threads: this.#textReaders }, input);
    const reference = model instanceof ModelHandle ? model.reference : model;
    return { ...result, model: reference, milliseconds: performance.now() - started };
  }

  /** Runs work on texts. */
  async #onEncoder<Result>(call: TaskCall, work: (encoder: Encoder) => Promise<Result>): Promise<Result & TaskRun> {
    const prepare = async (handle: ModelHandle): Promise<() => Promise<Result>> => {
      const encoder = await this.#encoder(handle);
      return () => work(encoder);
    };
    return this.onModel(call, prepare, {
      requireModel: (manifest, variants) => requireServed(manifest, variants, work),
      whileLoading: ({ text }) => {
        if (text !== undefined) this.#tokenizers.get(text).catch(() => {}); // `prepare` throws errors of reading it
      },
    });
  }

  /**
   * Runs work on the handle of a request, or on a model that is loaded for it and released afterwards. The time of `prepare` is not
   * counted in `milliseconds`.
   */
  protected async onModel<Result>(
    call: TaskCall,
    prepare: (handle: ModelHandle) => Promise<() => Promise<Result>>,
    loadHooks?: LoadHooks,
  ): Promise<Result & TaskRun> {
    refuseUnknownOptions(call);
    const { model, ...options } = call.request;
    if (model === undefined) {
      throw new InferyardError("INPUT_INVALID", `${call.verb} was given no model`, { remedy: "name one: a path or a reference" });
    }
    const placement = modelOptions(options);
    const run = async (handle: ModelHandle): Promise<Result & TaskRun> => {
      const work = await prepare(handle);
      const started = performance.now();
      const result = await work();
      const milliseconds = performance.now() - started;
      // A call of a language model says itself where it ran: the library may have been reloaded meanwhile.
      return { model: handle.reference, target: handle.target, decision: handle.decision, ...result, milliseconds };
    };
    if (!(model instanceof ModelHandle)) return this.use(model, placement, run, undefined, loadHooks);
    refuseLoadOptions(placement);
    return run(model);
  }

  /** The tokenizer of a model, which is not loaded for it; that of a reference is cached for a while. */
  async #getTokenizer(model: string | ModelHandle, options: ModelOptions): Promise<CachedTokenizer> {
    if (model instanceof ModelHandle) return { text: textSettings(model.manifest), tokenizer: await this.tokenizer(model) };
    const key = JSON.stringify([model, options.variant]);
    const known = this.#tokenizerCache.get(key);
    if (known !== undefined) return known;
    const text = textSettings(await this.manifest(model, options));
    const read = { text, tokenizer: await this.#tokenizers.get(text) };
    this.#tokenizerCache.set(key, read);
    unrefTimeout(() => this.#tokenizerCache.delete(key), tokenizerCacheMs);
    return read;
  }

  override async dispose(options?: RuntimeDisposeOptions): Promise<void> {
    await Promise.all([super.dispose(options), this.#textReaders?.dispose()]);
  }

  #getBatches({ reference, target }: ModelHandle): Pick<Encoder, "onBatch"> {
    const tell = this.#onBatch;
    return tell === undefined ? {} : { onBatch: (batch) => tell({ reference, target, ...batch }) };
  }

  async #encoder(handle: ModelHandle): Promise<Encoder> {
    const tokenizer = await this.tokenizer(handle);
    const { manifest, inputs, outputs } = handle;
    const loadModules = this.#tokenizers.getModules.bind(this.#tokenizers);
    const run = handle.run.bind(handle);
    const encoder = {
      manifest,
      tokenizer,
      inputs,
      outputs,
      loadModules,
      run,
      replicas: () => handle.replicas(),
      ...this.#getBatches(handle),
    };
    if (!this.#shareBatches) return encoder;
    const { DynamicBatcher } = await import("../tasks/batching/dynamic-batcher.ts"); // only servers share batches
    const { model, schedulingKey } = handle;
    const pool = this.#batchPools.get(model) ?? new DynamicBatcher(model);
    this.#batchPools.set(model, pool);
    return { ...encoder, runShared: pool.forClient(schedulingKey) };
  }
}

function refuseUnknownOptions({ verb, optionNames, request }: TaskCall): void {
  refuseUnknown(request, ["model", ...optionNames, ...modelOptionNames], verb);
}
