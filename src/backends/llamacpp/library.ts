/** The part of node-llama-cpp that is used, as interfaces of our own: https://node-llama-cpp.withcat.ai/api. */

/** The module `node-llama-cpp`. */
export interface LlamaModule {
  getLlama(options: LlamaOptions): Promise<Llama>;
  readonly LlamaLogLevel: { readonly error: string };
}

/** Options of `getLlama`. */
export interface LlamaOptions {
  /** Build of llama.cpp that is loaded; false: without a GPU. */
  readonly gpu: LlamaGpu;
  /** "never": nothing is compiled. */
  readonly build: "never";
  /** Nothing is downloaded. */
  readonly skipDownload: true;
  readonly progressLogs: false;
  readonly logLevel: string;
  logger(level: string, message: string): void;
}

/** A kind of GPU that llama.cpp is built for. */
export type LlamaGpu = false | "cuda" | "vulkan" | "metal";

/** A loaded build of llama.cpp. */
export interface Llama {
  readonly gpu: LlamaGpu;
  /** Whether this build can compute on a device of this machine, which `gpu` alone does not show. */
  readonly supportsGpuOffloading: boolean;
  /** Instruction sets that the build reports to use. */
  readonly systemInfo: string;
  readonly llamaCppRelease: { readonly repo: string; readonly release: string };
  getGpuDeviceNames(): Promise<string[]>;
  loadModel(options: LlamaModelOptions): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

/** Options of a model. */
export interface LlamaModelOptions {
  readonly modelPath: string;
  /** Layers that the GPU computes: a number, all ("max"), or as many as fit into its memory ("auto"), beside the cache of a sequence. */
  readonly gpuLayers: number | "max" | "auto" | { readonly fitContext: { readonly contextSize: number } };
  readonly loadSignal?: AbortSignal;
}

/** A model in memory. */
export interface LlamaModel {
  /** Layers that were offloaded to the GPU. */
  readonly gpuLayers: number;
  readonly trainContextSize: number;
  /** Elements of the vector that an embedding model gives. */
  readonly embeddingVectorSize: number;
  readonly memoryUsage: { readonly ram: number; readonly vram: number };
  createContext(options: ContextOptions): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

/** Options of a context. */
export interface ContextOptions {
  /** Tokens of each sequence. */
  readonly contextSize: number;
  readonly sequences: number;
  readonly batchSize: number;
  readonly threads: number;
  /** Keeps all positions of sliding windows, so that a sequence can be cut back. */
  readonly swaFullCache: true;
  /** Fused attention (Dao et al. 2022), which computes in half precision on the CPU. Default: where llama.cpp has it. Types of the elements of the caches: default F16. */
  readonly flashAttention?: false;
  readonly experimentalKvCacheKeyType?: "F32";
  readonly experimentalKvCacheValueType?: "F32";
  /** No fallback: the creation fails if the context cannot have the requested size. */
  readonly failedCreationRemedy: false;
  /** The context computes pooled vectors instead of logits. Not part of the public interface: see `EmbeddingContexts`. */
  readonly _embeddings?: true;
  /** The context computes the logits of the classification head. Not part of the public interface. */
  readonly _ranking?: boolean;
  readonly createSignal?: AbortSignal;
  /** LoRA adapters, which are loaded once for each model. */
  readonly lora?: ContextAdapters;
}

/** Adapters of a context. */
export interface ContextAdapters {
  readonly adapters: readonly { readonly filePath: string; readonly scale: number }[];
}

/** Memory for the caches of some sequences, which are computed together. */
export interface LlamaContext {
  readonly contextSize: number;
  readonly memoryUsage: { readonly ram: number; readonly vram: number };
  /** Not part of the public interface. */
  readonly _ctx?: { readonly getEmbedding?: (tokens: number) => ArrayLike<number> };
  getSequence(): LlamaSequence;
  dispose(): Promise<void>;
}

/** A token, and which results are wanted for the position after it. */
export type EvaluatedToken = number | readonly [token: number, options: { readonly generateNext: WantedNext }];

/**
 * Wanted result of the position after a token: all logits; the highest ones, of a given number, for which llama.cpp sorts all logits, which takes as long as
 * computing them in small models; or the logit of the token that llama.cpp's own sampler chooses, which is the highest one without a temperature.
 */
export type WantedNext =
  | { readonly logits: true | { readonly filter: { readonly includeTop: number } } }
  | { readonly logits: { readonly filter: { readonly includeSelected: true } }; readonly options: { readonly temperature: 0 } };

/** One sequence of a context. */
export interface LlamaSequence {
  /** Number of tokens in the cache. */
  readonly nextTokenIndex: number;
  controlledEvaluate(tokens: readonly EvaluatedToken[]): Promise<readonly (EvaluatedPosition | undefined)[]>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  eraseContextTokenRanges(ranges: readonly { readonly start: number; readonly end: number }[]): Promise<void>;
  clearHistory(): Promise<void>;
  saveStateToFile(path: string): Promise<unknown>;
  loadStateFromFile(path: string, accept: { readonly acceptRisk: true }): Promise<void>;
}

/** Results for the position after a token. */
export interface EvaluatedPosition {
  readonly next: { readonly logits?: ReadonlyMap<number, number> };
}
