/** The runtime a user holds: models are loaded by the runtime below the tasks, and the tasks are run on them. */
import type { Backend } from "./backend.ts";
import { InferyardError } from "./errors.ts";
import type { Decision } from "./runtime/decision.ts";
import { ModelHandle } from "./runtime/model-handle.ts";
import { ModelRuntime } from "./runtime/model-runtime.ts";
import type { ModelOptions, RuntimeSettings } from "./runtime/runtime-settings.ts";
import { modelOptionNames, refuseUnknown } from "./runtime/options.ts";
import type { Surroundings } from "./runtime/surroundings.ts";
import { type ClassifyOptions, classify, classifyOptionNames } from "./tasks/classify.ts";
import type { Classifications } from "./tasks/labels.ts";
import { type Embeddings, embed } from "./tasks/embed.ts";
import type { ChunkedText } from "./tasks/chunk/chunk.ts";
import type { ChunkOptions, ChunkSettings } from "./tasks/chunk/chunk-options.ts";
import { type EmbedOptions, type QuantizedEmbedOptions, embedOptionNames, textSettings } from "./tasks/embed-settings.ts";
import type { Encoder } from "./tasks/encoder-runs.ts";
import { type EmbedSparseOptions, type SparseEmbeddings, embedSparse, embedSparseOptionNames } from "./tasks/embed-sparse.ts";
import { isLateInteraction } from "./tasks/encoder-outputs.ts";
import { rerankByLateInteraction } from "./tasks/late-interaction.ts";
import { answerCheck } from "./tasks/known-answers.ts";
import { Tokenizers } from "./tasks/tokenizers.ts";
import { type Entities, type RecognizeOptions, recognize, recognizeOptionNames } from "./tasks/recognize.ts";
import type { QuantizedPrecision, QuantizedVectors } from "./tasks/quantize.ts";
import { type Ranking, type RerankOptions, rerank, rerankOptionNames } from "./tasks/rerank.ts";
import { isEmbedder, rerankByEmbedding } from "./tasks/rerank-by-embedding.ts";
import type { Tokenizer } from "./tokenizers/index.ts";

export interface EmbedRequest extends EmbedOptions, ModelOptions {
  /** A reference, or a handle from `load`. Default: "builtin". */
  readonly model?: string | ModelHandle;
}

export interface QuantizedEmbedRequest extends QuantizedEmbedOptions, ModelOptions {
  /** As of `EmbedRequest`. */
  readonly model?: string | ModelHandle;
}

/** What every task says beside its results. */
export interface TaskRun {
  /** The reference of the model. */
  readonly model: string;
  /** Where it ran, for example "onnx:cpu". */
  readonly target: string;
  /** Why it ran there. */
  readonly decision: Decision;
  /** From text to results, loading left out. */
  readonly milliseconds: number;
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

/** One call of a task, as the runtime sees it. */
interface TaskCall {
  readonly name: string;
  /** The task's own options; those of loading are allowed besides. */
  readonly optionNames: readonly string[];
  readonly model: string | ModelHandle | undefined;
  readonly options: ModelOptions;
}

/** Loads models, runs tasks on them, and says where and why. Dispose it to give everything back. */
export class Runtime extends ModelRuntime {
  readonly #tokenizers: Tokenizers;

  constructor(backends: readonly Backend[], settings: RuntimeSettings, surroundings: Surroundings) {
    const tokenizers = new Tokenizers();
    super(backends, settings, answerCheck(tokenizers), surroundings);
    this.#tokenizers = tokenizers;
  }

  /** Texts to vectors (task `feature-extraction`). With a reference the model is loaded, or taken from memory, and released after. */
  embed(texts: string | readonly string[], request?: EmbedRequest): Promise<EmbedResult>;
  /** The same in fewer bits. */
  embed(texts: string | readonly string[], request: QuantizedEmbedRequest): Promise<QuantizedEmbedResult>;
  async embed(
    texts: string | readonly string[],
    request: EmbedRequest | QuantizedEmbedRequest = {},
  ): Promise<EmbedResult | QuantizedEmbedResult> {
    const list = textList(texts);
    const { model = "builtin", ...options } = request;
    const call = { name: "embed", optionNames: embedOptionNames, model, options };
    if (isQuantized(options)) {
      const { precision, ranges, ...others } = options;
      const { checkQuantize, quantize } = await import("./tasks/quantize.ts"); // as in `chunk`
      const asked = { precision, ...(ranges === undefined ? {} : { ranges }) };
      checkQuantize(asked, options.pooling);
      return this.#task(call, async (encoder) => {
        const { embeddings, ...result } = await embed(encoder, list, others);
        checkQuantize(asked, result.pooling); // the model's own, too
        return { ...result, precision, ...quantize(embeddings, asked) };
      });
    }
    return this.#task(call, (encoder) => embed(encoder, list, options));
  }

  /** Texts to weights of vocabulary tokens (SPLADE; a model with a masked-language-model head). */
  async embedSparse(texts: string | readonly string[], request: EmbedSparseRequest): Promise<EmbedSparseResult> {
    const list = textList(texts);
    const { model, ...options } = request;
    return this.#task({ name: "embedSparse", optionNames: embedSparseOptionNames, model, options }, (encoder) =>
      embedSparse(encoder, list, options),
    );
  }

  /** The labels of texts with their scores (task `text-classification`). */
  async classify(texts: string | readonly string[], request: ClassifyRequest): Promise<ClassifyResult> {
    const list = textList(texts);
    const { model, ...options } = request;
    return this.#task({ name: "classify", optionNames: classifyOptionNames, model, options }, (encoder) =>
      classify(encoder, list, options),
    );
  }

  /** Documents in the order of how well they answer a query (task `text-ranking`). */
  async rerank(query: string, documents: readonly string[], request: RerankRequest = {}): Promise<RerankResult> {
    const { model = "builtin", ...options } = request;
    return this.#task({ name: "rerank", optionNames: rerankOptionNames, model, options }, (encoder) => {
      if (isLateInteraction(encoder.outputs)) return rerankByLateInteraction(encoder, query, documents, options);
      if (isEmbedder(encoder.manifest)) return rerankByEmbedding(encoder, query, documents, options);
      return rerank(encoder, query, documents, options);
    });
  }

  /** The names in texts, with their places (task `token-classification`). */
  async recognize(texts: string | readonly string[], request: RecognizeRequest): Promise<RecognizeResult> {
    const list = textList(texts);
    const { model, ...options } = request;
    return this.#task({ name: "recognize", optionNames: recognizeOptionNames, model, options }, (encoder) =>
      recognize(encoder, list, options),
    );
  }

  /**
   * Long texts to chunks of at most so many tokens, with nothing lost between them. A model is loaded for the strategies that run one; the
   * others read its tokenizer.
   */
  async chunk(texts: string | readonly string[], request: ChunkRequest = {}): Promise<ChunkResult> {
    // Imported here, as all of chunking: a page that embeds need not fetch what knows Markdown and code.
    const { chunkOptionNames, chunkSettings, runsModel } = await import("./tasks/chunk/chunk-options.ts");
    refuseUnknown(request, ["model", ...chunkOptionNames, ...modelOptionNames], "chunk");
    const { model = "builtin", ...options } = request;
    const list = textList(texts);
    const settings = chunkSettings(options);
    const asked = modelOptions(options);
    const runs = runsModel(settings.strategy);
    if (model instanceof ModelHandle) {
      refuseLoadOptions(asked);
      return this.#chunkWith(model, list, settings, runs);
    }
    if (runs) return this.use(model, asked, (handle) => this.#chunkWith(handle, list, settings, runs));
    refusePlacing(asked, settings);
    const manifest = await this.manifest(model, asked);
    const tokenizer = await this.#tokenizers.of(textSettings(manifest));
    const started = performance.now();
    const { chunkTexts } = await import("./tasks/chunk/chunk.ts");
    const results = await chunkTexts(list, tokenizer, settings, undefined);
    return { model, results, milliseconds: performance.now() - started };
  }

  /** The tokenizer of a loaded model. */
  tokenizer(handle: ModelHandle): Promise<Tokenizer> {
    return this.#tokenizers.of(textSettings(handle.manifest));
  }

  /** Runs one task: on the handle given, or on a model loaded for it and given back after. */
  async #task<Result>(
    { name, optionNames, model, options }: TaskCall,
    work: (encoder: Encoder) => Promise<Result>,
  ): Promise<Result & TaskRun> {
    refuseUnknown(options, ["model", ...optionNames, ...modelOptionNames], name);
    if (model === undefined) {
      throw new InferyardError("INPUT_INVALID", `${name} was given no model`, { remedy: "name one: a path or a reference" });
    }
    const asked = modelOptions(options);
    const run = async (handle: ModelHandle): Promise<Result & TaskRun> => {
      const encoder = await this.#encoder(handle);
      const started = performance.now();
      const result = await work(encoder);
      const milliseconds = performance.now() - started;
      return { ...result, model: handle.reference, target: handle.target, decision: handle.decision, milliseconds };
    };
    if (!(model instanceof ModelHandle)) return this.use(model, asked, run);
    refuseLoadOptions(asked);
    return run(model);
  }

  /** `runs`: whether the strategy runs the model. */
  async #chunkWith(handle: ModelHandle, texts: readonly string[], settings: ChunkSettings, runs: boolean): Promise<ChunkResult> {
    const encoder = await this.#encoder(handle);
    const started = performance.now();
    const { chunkTexts } = await import("./tasks/chunk/chunk.ts");
    const model = runs ? (await import("./tasks/chunk/encoder-model.ts")).encoderModel(encoder, settings) : undefined;
    const results = await chunkTexts(texts, encoder.tokenizer, settings, model);
    const milliseconds = performance.now() - started;
    const ran = runs ? { target: handle.target, decision: handle.decision } : {};
    return { model: handle.reference, ...ran, results, milliseconds };
  }

  async #encoder(handle: ModelHandle): Promise<Encoder> {
    const tokenizer = await this.tokenizer(handle);
    const { manifest, inputs, outputs } = handle;
    const chain = () => this.#tokenizers.chainOf(textSettings(manifest));
    return { manifest, tokenizer, inputs, outputs, chain, run: handle.run.bind(handle), lanes: () => handle.lanes() };
  }
}

/** The runtime, when all is loaded that its settings want loaded at the start. Where that fails everything is given back. */
export async function started(runtime: Runtime): Promise<Runtime> {
  try {
    await runtime.preload();
    return runtime;
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}

function isQuantized(options: EmbedOptions | QuantizedEmbedOptions): options is QuantizedEmbedOptions {
  return (
    (options.precision !== undefined && options.precision !== "float32") || ("ranges" in options && options.ranges !== undefined)
  );
}

function textList(texts: string | readonly string[]): readonly string[] {
  const list = typeof texts === "string" ? [texts] : texts;
  if (!Array.isArray(list)) throw new InferyardError("INPUT_INVALID", "texts must be a string or an array of strings");
  return list;
}

/** The part of a request that decides which model is loaded and where; the rest must not make a second copy of it. */
function modelOptions(request: ModelOptions): ModelOptions {
  const asked = modelOptionNames.map((name) => [name, request[name]] as const);
  return Object.fromEntries(asked.filter(([, value]) => value !== undefined));
}

/** Without a model on an engine, what decides where it runs would be ignored. */
function refusePlacing({ signal: _signal, variant: _variant, ...asked }: ModelOptions, { strategy }: ChunkSettings): void {
  const [name] = Object.keys(asked);
  if (name === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${name}" means nothing with the strategy ${strategy}, which loads no model`, {
    remedy: `leave "${name}" out, or choose a strategy that does: semantic, late or token-classification`,
  });
}

/** A handle is loaded already: what decides where would be ignored. */
function refuseLoadOptions({ signal: _signal, ...asked }: ModelOptions): void {
  const [name] = Object.keys(asked);
  if (name === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${name}" was given together with a model that is loaded already`, {
    remedy: `give "${name}" to load() instead`,
  });
}
