/** What a backend supports on a device, as plain data. */
import type { LoadSettings } from "./load-settings.ts";
import type { ModelFormat, Precision } from "./model-files.ts";
import type { PackedPrecision } from "./weight-packing.ts";

/** Models and options that a backend supports on a device. */
export interface Capabilities {
  /** File formats that it loads. For each, the architectures (config.json `architectures`) that it supports, or "any". */
  readonly formats: Readonly<Partial<Record<ModelFormat, readonly string[] | "any">>>;
  /** As `formats`, for `loadLanguage`. Default: none. */
  readonly languageFormats?: Readonly<Partial<Record<ModelFormat, readonly string[] | "any">>>;
  /** Precisions of weights that it runs. */
  readonly precisions: readonly Precision[];
  /**
   * Load settings that it obeys. A candidate is refused if a setting is given that is not listed here, so that no setting is
   * ignored.
   */
  readonly options: readonly (keyof LoadSettings)[];
  /**
   * Packing of weights in fp32, fp16 or bf16 to a lower precision while a model is loaded, if a variant is requested that the model's files do not have. Default:
   * the backend packs nothing, and such a request is refused.
   */
  readonly packing?: PackingCapabilities;
  /** Values of `LoadSettings.cachePrecision` that it obeys. Default: none. */
  readonly cachePrecisions?: readonly NonNullable<LoadSettings["cachePrecision"]>[];
  /**
   * Estimate of a loaded model's main memory: `bytes` for the engine, plus `perWeightByte` for each byte of weights. Default:
   * the weights alone.
   */
  readonly footprint?: { readonly bytes: number; readonly perWeightByte: number };
  /**
   * true: `load` and `run` block their thread, so models run on a worker thread or in a process. false: each call returns
   * within about a millisecond. Formats and architectures: only models of these block.
   */
  readonly blocking: boolean | Capabilities["formats"];
  /**
   * true: a worker thread may be terminated during `load` and `run`, as with engines in JavaScript and WebAssembly. false: that
   * would abort the process, as with native engines; a hung thread cannot be ended then, a process can. Default: false.
   */
  readonly interruptible?: boolean;
  /** true: a load compiles the model for seconds to minutes, so that other targets may serve meanwhile (`RuntimeSettings.whileCompiling`). Default: false. */
  readonly compiles?: boolean;
  /** true: a damaged model can abort the process, so models run in separate processes unless the user asks otherwise. Default: false. */
  readonly needsProcess?: boolean;
}

/** Memory that the cache of a language model needs. */
export interface CacheEstimate {
  /** Maximum number of tokens of a sequence, as the model states it. Undefined: it states none. */
  readonly contextLength?: number | undefined;
  /** Bytes that each token takes: its keys and values in all layers, and buffers that grow with the length. */
  readonly bytesPerToken: number;
  /** Bytes that the engine needs in addition, independent of the length of the sequence. */
  readonly computeBytes: number;
}

/** Models whose weights a backend packs while it loads them: their formats and architectures, as in `Capabilities`. */
export interface PackingCapabilities extends Pick<Capabilities, "formats" | "languageFormats"> {
  /** Bytes in memory of a packed weight. */
  readonly bytesPerWeight: Readonly<Record<PackedPrecision, number>>;
}
