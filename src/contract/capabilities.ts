/** What a backend supports on a device, as plain data. */
import type { LoadSettings } from "./load-settings.ts";
import type { ModelFormat, PackedPrecision, Precision } from "./model-files.ts";
import type { LanguageModel } from "./language-model.ts";
import type { TensorModel } from "./tensor-model.ts";

/** Models and options that a backend supports on a device. */
export interface Capabilities {
  /** Models that it loads. Of entries that a model fits, the first counts. */
  readonly models: readonly SupportedModels[];
  /** Precisions of weights that it runs. */
  readonly precisions: readonly Precision[];
  /**
   * Names of the load settings that it obeys, with those in `LoadSettings.engine`. A candidate is refused if a setting is given that is not listed here, so that no setting is
   * ignored. Default: none.
   */
  readonly options?: readonly string[];
  /** Values of `LoadSettings.cachePrecision` that it obeys. Default: none. */
  readonly cachePrecisions?: readonly NonNullable<LoadSettings["cachePrecision"]>[];
  /**
   * Estimate of a loaded model's main memory: `bytes` for the engine, plus `perWeightByte` for each byte of weights. Default:
   * the weights alone.
   */
  readonly footprint?: { readonly bytes: number; readonly perWeightByte: number };
  /**
   * Memory of runs. `liveTensors`: number of tensors of the largest size that are held at once, for estimates. `isBounded`: the engine refuses a run that would
   * exceed `LoadLimits.maxRunMemory` with LIMIT_EXCEEDED by a plan of its own, so that no estimate refuses it. Default: 2, and an estimate refuses.
   */
  readonly runMemory?: { readonly liveTensors: number; readonly isBounded: boolean };
  /** true: a load compiles the model for seconds to minutes, so that other targets may serve meanwhile (`RuntimeSettings.whileCompiling`). Default: false. */
  readonly compiles?: boolean;
}

/** Models of one kind and one format. */
export interface SupportedModels {
  /** "tensor": `load` loads them. "language": `loadLanguage`. */
  readonly kind: (TensorModel | LanguageModel)["kind"];
  readonly format: ModelFormat;
  /** The architectures (config.json `architectures`) that are supported, or "any". */
  readonly architectures: readonly string[] | "any";
  /**
   * Bytes in memory of a weight that is packed to a lower precision while the model is loaded, by that precision. Weights in fp32, fp16 or bf16 are packed if a
   * variant is requested that the model's files do not have. Default: nothing is packed, and such a request is refused.
   */
  readonly packing?: Readonly<Record<PackedPrecision, number>>;
  /** Where the models run. Default: "thread". */
  readonly runsIn?: ModelPlace;
}

/**
 * Where models run unless the user asks otherwise, by what `load` and `run` do to their thread. "caller": on the calling thread, since each call returns within
 * about a millisecond. "thread": in a worker thread, since calls block it; the thread is never terminated during a call, which would abort the process, as
 * with native engines. "interruptible-thread": in a worker thread that may be terminated during a call, as with engines in JavaScript and WebAssembly.
 * "process": in a process of their own, since a damaged model can abort its process.
 */
export type ModelPlace = "caller" | "thread" | "interruptible-thread" | "process";

/** Memory that the cache of a language model needs. */
export interface CacheEstimate {
  /** Maximum number of tokens of a sequence, as the model states it. Undefined: it states none. */
  readonly contextLength?: number | undefined;
  /** Bytes that each token takes: its keys and values in all layers, and buffers that grow with the length. */
  readonly bytesPerToken: number;
  /** Bytes that the engine needs in addition, independent of the length of the sequence. */
  readonly computeBytes: number;
}
