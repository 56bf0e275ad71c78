/**
 * The contract between Inferyard and an engine, as types only. Each member states what it promises, and `inferyard/testing` has
 * a suite that checks the promises. `docs/guide/writing-a-backend.md` begins with a complete backend.
 *
 * A backend may import this file, `errors`, `tensor` and its own folder.
 */
import type { LanguageModel, LanguageModelFiles } from "./language-model.ts";
import type { LoadLimits, LoadSettings } from "./load-settings.ts";
import type { TensorInfo, TensorMap } from "./tensor.ts";
import type { PackingCapabilities, WeightPacking } from "./weight-packing.ts";

export * from "./errors.ts";
export type * from "./language-model.ts";
export type * from "./load-settings.ts";
export * from "./tensor.ts";
export type * from "./weight-packing.ts";

/** Device type. Third parties may use names of their own. */
export type DeviceType =
  | "cpu"
  | "cuda"
  | "coreml"
  | "directml"
  | "rocm"
  | "openvino"
  | "tensorrt"
  | "webgpu"
  | "metal"
  | "vulkan"
  | "tpu"
  | "npu"
  | (string & {});

/** A device of a backend. `index` numbers the devices of one type from 0. */
export interface Device {
  readonly type: DeviceType;
  readonly index: number;
}

/** File formats of models. */
export type ModelFormat = "onnx" | "safetensors" | "gguf";

/** Precisions of weights, named as in model files. */
export type Precision = "fp32" | "fp16" | "bf16" | "int8" | "int4";

/** A package or library that a backend needs. */
export interface Requirement {
  readonly kind: "package" | "library";
  readonly name: string;
  /**
   * Semantic version range as npm writes it, for example ">=1.24 <2". Suffixes such as "-rc.1" of the installed version are
   * ignored. Default: any version.
   */
  readonly range?: string;
  /** Command that installs it. */
  readonly install: string;
}

/**
 * How another thread or process creates the backend: it imports `module` and calls its export `export` with `options`. A
 * backend without an entry runs on the calling thread only.
 */
export interface BackendEntry {
  /**
   * A `file:` URL, usually `import.meta.url` of the module that exports the function; in a browser, a URL that its worker can
   * import.
   */
  readonly module: string;
  /** Name of an exported function `(options?) => Backend`. */
  readonly export: string;
  /** Argument of the function. Must survive structured clone. */
  readonly options?: unknown;
}

/** An engine. Creating one must be cheap: no import of its library, no file access, no device access. */
export interface Backend {
  /** Lower-case word, unique in a runtime. The first part of a target. */
  readonly name: string;
  readonly contractVersion: 1;
  /**
   * Packages and libraries that it needs, shown by `inferyard backends` and in errors. If its probe reports the version of one
   * of them (`Availability.library`) and that is outside the required range, the backend counts as absent. Default: none.
   */
  readonly requires?: readonly Requirement[];
  /** How other threads create the backend. Default: it runs on the calling thread only. */
  readonly entry?: BackendEntry;

  /**
   * Reports whether the library and its devices are available on this machine. Never throws for absence, which is a result, and
   * writes nothing to stdout.
   */
  probe(options: ProbeOptions): Promise<Availability>;

  /**
   * What the backend supports on a device: plain data, constant, obtained without loading anything. What is not listed is not
   * supported.
   */
  capabilities(device: Device): Capabilities;

  /**
   * Loads a model on exactly this device. Throws an InferyardError: MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for one
   * that it cannot run, otherwise BACKEND_UNAVAILABLE, LOAD_FAILED or OUT_OF_MEMORY. Each of these makes selection try the next
   * candidate.
   */
  load(model: ModelFiles, device: Device, options: LoadOptions): Promise<TensorModel>;

  /** Loads a language model, with the errors of `load`. Default: the backend decodes no tokens. */
  loadLanguage?(model: LanguageModelFiles, device: Device, options: LoadOptions): Promise<LanguageModel>;

  /**
   * What the cache of a language model takes, from its files' facts and without loading anything. Selection refuses a model whose cache does not
   * fit into the memory beside its weights. Default: nothing is known, and nothing is refused.
   */
  estimateCache?(model: LanguageModelFiles, device: Device, settings: LoadSettings): CacheEstimate | undefined;

  /** Frees what the backend itself holds. Called once, after all its models are disposed. Default: nothing. */
  dispose?(): Promise<void>;
}

/** What the cache of a language model takes. */
export interface CacheEstimate {
  /** Maximum number of tokens of a sequence, as the model states it. Undefined: it states none. */
  readonly contextLength?: number | undefined;
  /** Bytes that each token takes: its keys and values in all layers, and buffers that grow with the length. */
  readonly bytesPerToken: number;
  /** Bytes that the engine needs besides, whatever the length of the sequence. */
  readonly computeBytes: number;
}

/** Options of a probe. */
export interface ProbeOptions {
  /** Facts about this machine. */
  readonly machine: MachineFacts;
  /**
   * false: checks presence only, within milliseconds and without loading native code: whether the package is installed and
   * which devices this machine has for it. true: also runs a tiny graph on each device and reports the engine's own error if it
   * fails.
   */
  readonly run: boolean;
  /**
   * With `run`: repeats self-tests that passed before on this machine and are remembered, and tries devices whose absence the machine's facts show already, so that
   * the engine's own error is known. Default: false.
   */
  readonly full?: boolean;
  /** Probes this device only. Default: all devices. */
  readonly device?: Device;
  readonly signal?: AbortSignal;
}

/** The result of a probe. */
export type Availability =
  | {
      readonly present: false;
      readonly reason: string;
      readonly remedy?: string;
      /** The library, if it was found and cannot be used. */
      readonly library?: Library;
    }
  | {
      readonly present: true;
      readonly library: Library;
      /** Every device that the engine could use on this platform, in the engine's order of preference. */
      readonly devices: readonly DeviceAvailability[];
    };

/** Name and version of an engine's library. */
export interface Library {
  readonly name: string;
  readonly version: string;
}

/**
 * What is known of a device: "absent": it cannot be used, or the tiny graph failed on it; "present": what it needs was found, and nothing has run on
 * it; "available": the tiny graph ran on it with the right results.
 */
export type DeviceState = "absent" | "present" | "available";

/** What a probe says of one device. */
export interface DeviceAvailability {
  readonly device: Device;
  /** A probe with `run: false` never says "available", one with `run: true` never says "present". */
  readonly state: DeviceState;
  /** A sentence: why it is absent, or what was found or ran. */
  readonly reason: string;
  /** What is wrong with a device that is available nevertheless, as a sentence. Default: nothing. */
  readonly warning?: string;
  /** A command or a setting that makes it available. */
  readonly remedy?: string;
  /** Milliseconds that the tiny graph took, session creation included. Undefined if it was not run. */
  readonly milliseconds?: number;
}

/** What a backend supports on a device. */
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
  /** true: a damaged model can abort the process, so models run in a process of their own unless the user asks otherwise. Default: false. */
  readonly needsProcess?: boolean;
}

/** The files of one variant of a model, located and checked by `models/`. */
export interface ModelFiles {
  readonly format: ModelFormat;
  /** Absolute path of the file of weights or of the graph. */
  readonly path: string;
  /** Bytes of `path` and of the files it refers to. */
  readonly bytes: number;
  /** Precision of the weights. Absent if the file does not state it. */
  readonly precision?: Precision;
  /** Set if the weights are to be packed while loading. Only for backends whose `Capabilities.packing` has such models. */
  readonly packing?: WeightPacking;
  /** First entry of `architectures` in config.json, if any. */
  readonly architecture?: string;
  /** The parsed config.json, or an empty object. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Options of `Backend.load`. */
export interface LoadOptions extends LoadSettings, LoadLimits {
  /** If aborted, the backend stops as soon as possible, frees everything and throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** A model on one device. A union, so that more kinds can be added. */
export type LoadedModel = TensorModel | LanguageModel;

/** What models of all kinds have. */
export interface ModelBase {
  readonly library: Library;
  /**
   * Memory that the model holds. "allocated": bytes that the engine allocated. "weights": size of the weights, if the engine
   * does not report its memory. "resident": peak resident memory of a process that holds only this model.
   */
  readonly memory: { readonly bytes: number; readonly measure: "allocated" | "weights" | "resident" };

  /**
   * What the engine itself reports about where it computed, as sentences such as "profile: 187 nodes on CPUExecutionProvider".
   * Called once, after the first run. Never what was requested. Throws VERIFICATION_FAILED if the engine computed elsewhere, and
   * PLACEMENT_UNPROVEN if its report could not be obtained; the message says why. Empty if the engine reports nothing, which
   * proves nothing either: an unproven model is used on the CPU only, and only if no target is required.
   */
  evidence(): Promise<readonly string[]>;

  /**
   * How often each kernel has run since the model was loaded, counted where kernels run: a call that several threads share is one call. Runs that
   * verify the model count, and so do the calls of a run that failed or was aborted before its end. Counts never fall. Default: the engine does not
   * know its kernels.
   */
  kernelCounts?(): Promise<readonly KernelCount[]>;

  /** Waits for calls in progress, then frees the memory. Idempotent. */
  dispose(): Promise<void>;
}

/** A kernel, and how often it ran. */
export interface KernelCount {
  /** Id of the kernel, such as "Q4_K_Wasm"; "Interpreter" for operations that no kernel computes. Unique in a list. */
  readonly id: string;
  /** Completed calls: a whole number of at least 1. */
  readonly calls: number;
}

/** A model that maps named tensors to named tensors. */
export interface TensorModel extends ModelBase {
  readonly kind: "tensor";
  readonly inputs: readonly TensorInfo[];
  /** The outputs that are tensors, at least one. */
  readonly outputs: readonly TensorInfo[];

  /**
   * Runs the model once. Throws INPUT_INVALID for wrong inputs (see `checkInputs`), and DISPOSED after disposal. Calls may
   * overlap; the results are those of serial calls. The inputs belong to the model until the promise settles, the outputs
   * belong to the caller.
   */
  run(inputs: TensorMap, options?: RunOptions): Promise<TensorMap>;
}

/** Options of one run. */
export interface RunOptions {
  /**
   * Names of the outputs to compute. Default: all; throws MODEL_UNSUPPORTED if one of them is not a tensor (a sequence or a
   * map).
   */
  readonly outputs?: readonly string[];
  /**
   * If aborted before the run starts, `run` throws ABORTED. If aborted during it, `run` throws ABORTED at once if the engine
   * can stop, otherwise when the run ends.
   */
  readonly signal?: AbortSignal;
}

/** A fact about this machine, and the source it was read from. */
export interface Fact<T> {
  readonly value: T;
  readonly source: string;
}

/** Facts about this machine, gathered by `devices/`. */
export interface MachineFacts {
  /**
   * Operating system and processor architecture as Node.js names them, for example "linux" and "x64"; "browser" and "wasm32" in
   * a browser.
   */
  readonly platform: NodeJS.Platform | "browser";
  readonly architecture: string;
  readonly cpu: CpuFacts;
  /** Bytes of main memory, total and available. Limits of the control group are already applied. */
  readonly memory: { readonly total: Fact<number>; readonly available: Fact<number> };
  readonly accelerators: readonly Accelerator[];
  /** Why no accelerator of a type was found, by device type: a sentence without a full stop. */
  readonly absent: Readonly<Partial<Record<DeviceType, string>>>;
}

/** Facts about the processor. */
export interface CpuFacts {
  readonly model: Fact<string>;
  /** Instruction sets in the vendor's spelling: "AVX2", "AVX-512 VNNI", "NEON". */
  readonly features: Fact<readonly string[]>;
  /** Number of logical processors that this process may run on. */
  readonly cores: Fact<number>;
  /**
   * Number of processors that this process may use at once, by affinity mask and control group quota. At least 1; may be
   * fractional.
   */
  readonly quota: Fact<number>;
}

/** An accelerator of this machine. */
export interface Accelerator {
  readonly device: Device;
  readonly name: string;
  readonly source: string;
  readonly memory?: { readonly totalBytes: number; readonly freeBytes?: number };
  /** NVIDIA: compute capability of the chip, for example "9.0". Not a CUDA version. */
  readonly computeCapability?: string;
  /** NVIDIA: the newest CUDA version that the driver supports, for example "13.0". */
  readonly cudaVersion?: string;
  readonly driverVersion?: string;
}
