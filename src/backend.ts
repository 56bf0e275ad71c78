/**
 * The contract between Inferyard and an engine. Types only: what each member promises is written beside it, and
 * `inferyard/testing` holds a suite that checks the promises. `docs/guide/writing-a-backend.md` opens with a complete backend.
 *
 * A backend may import this file, `errors`, `tensor` and its own folder.
 */
import type { TensorInfo, TensorMap } from "./tensor.ts";

export * from "./errors.ts";
export * from "./tensor.ts";

/** A kind of place to compute. The open end lets third parties name their own. */
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

/** Where a backend computes. `index` counts devices of one type from 0; it is 0 where there is only one. */
export interface Device {
  readonly type: DeviceType;
  readonly index: number;
}

/** File formats of models. */
export type ModelFormat = "onnx" | "safetensors" | "gguf";

/** Arithmetic or storage precisions, in the names model files use. */
export type Precision = "fp32" | "fp16" | "bf16" | "int8" | "int4";

/** A package or a library that a backend cannot work without. */
export interface Requirement {
  readonly kind: "package" | "library";
  readonly name: string;
  /** Semantic-version range; left out, any version will do. */
  readonly range?: string;
  /** The exact command that provides it. */
  readonly install: string;
}

/**
 * How a worker thread makes its own copy of the backend: it imports `module` and calls `export` with `options`.
 * A backend without an entry runs on the main thread only.
 */
export interface BackendEntry {
  /** A `file:` URL, usually `import.meta.url` of the file that exports the function; in a browser an address its worker can import. */
  readonly module: string;
  /** The name of a function `(options?) => Backend`. */
  readonly export: string;
  /** Passed to the function; must survive structured clone. */
  readonly options?: unknown;
}

/** An engine. Creating one must be cheap and touch nothing: no import of its library, no file, no device. */
export interface Backend {
  /** Lower-case word, unique in a runtime; the first part of a target. */
  readonly name: string;
  readonly contractVersion: 1;
  /** Shown by `inferyard backends` and in errors. Default: none. */
  readonly requires?: readonly Requirement[];
  /** Default: the backend runs on the main thread only. */
  readonly entry?: BackendEntry;

  /** Reports facts about this machine. Never throws for absence and writes nothing to stdout: absence is a result. */
  probe(options: ProbeOptions): Promise<Availability>;

  /** Plain data, the same at each call, without loading anything. What is not listed is not supported. */
  capabilities(device: Device): Capabilities;

  /**
   * Loads a model on exactly this device, or throws an InferyardError: MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for
   * one it cannot run, BACKEND_UNAVAILABLE, LOAD_FAILED or OUT_OF_MEMORY otherwise. These move selection on to the next candidate.
   */
  load(model: ModelFiles, device: Device, options: LoadOptions): Promise<LoadedModel>;

  /** Frees what the backend itself holds. Called once, after all its models are disposed. Default: nothing to free. */
  dispose?(): Promise<void>;
}

export interface ProbeOptions {
  readonly machine: MachineFacts;
  /**
   * false: presence only, in a few milliseconds, without loading native code: is the package there, which devices does this
   * machine have for it. true: also run a tiny graph on every device, alone, and report the engine's own cause of a failure.
   */
  readonly run: boolean;
  /** Only this device is of interest. Default: all. */
  readonly device?: Device;
  readonly signal?: AbortSignal;
}

/** What a probe found. */
export type Availability =
  | { readonly present: false; readonly reason: string; readonly remedy?: string }
  | {
      readonly present: true;
      readonly library: Library;
      /** Every device the engine could use on this platform, in the engine's order of preference, with its verdict. */
      readonly devices: readonly DeviceAvailability[];
    };

export interface Library {
  readonly name: string;
  readonly version: string;
}

export interface DeviceAvailability {
  readonly device: Device;
  readonly available: boolean;
  /** A sentence: why not, or what was found. */
  readonly reason: string;
  /** A command or a setting that mends it. */
  readonly remedy?: string;
  /** Set when the tiny graph was run: how long it took, session included. */
  readonly milliseconds?: number;
}

/** What a backend can do on a device. */
export interface Capabilities {
  /** Formats it loads; for each, the architectures (config.json `architectures`) it knows, or "any". */
  readonly formats: Readonly<Partial<Record<ModelFormat, readonly string[] | "any">>>;
  /** Precisions of weights it runs. */
  readonly precisions: readonly Precision[];
  /** Load options it obeys. One that is set and not listed here refuses the candidate: nothing is ignored. */
  readonly options: readonly (keyof LoadSettings)[];
  /**
   * Memory of the machine a loaded model takes, for estimates before it is loaded: `bytes` whatever the model, and so many for every byte
   * of its weights. Default: the weights alone.
   */
  readonly footprint?: { readonly bytes: number; readonly perWeightByte: number };
  /**
   * true: `load` and `run` hold their thread, so they are put on a worker. false: each call returns within about a millisecond. Formats and
   * architectures: those whose models hold it.
   */
  readonly blocking: boolean | Capabilities["formats"];
  /**
   * true: the worker thread may be terminated during `load` and `run`, as is so where an engine is JavaScript and WebAssembly. false: that would
   * abort the process, as native engines do; a thread that hangs can then not be ended, a process can. Default: false.
   */
  readonly interruptible?: boolean;
}

/** The files of one variant of a model, found and checked by `models/`. */
export interface ModelFiles {
  readonly format: ModelFormat;
  /** Absolute path of the weights or graph. */
  readonly path: string;
  /** Size of `path` and of the files it refers to. */
  readonly bytes: number;
  /** First entry of config.json's `architectures`, where there is one. */
  readonly architecture?: string;
  /** The model's config.json as it stands, or an empty object. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Settings a user may give for loading. */
export interface LoadSettings {
  /** Most threads of one model on the CPU, already clamped to the CPU quota. Default: the quota. */
  readonly threads?: number;
  /** How far the engine may rewrite the graph, at most. Default: the engine's own default. */
  readonly graphOptimization?: "disabled" | "basic" | "extended" | "all";
  /**
   * On a device other than the CPU: whether single nodes that the device cannot run may be computed on the CPU. Default: "refuse", the
   * load fails. With "allow" the evidence says how many nodes ran where.
   */
  readonly cpuNodes?: "refuse" | "allow";
  /**
   * Whether the engine may lay out the memory of a run beforehand, from the shapes of an earlier one: it then holds a block for each set of
   * shapes it has seen. Default: the engine's own default.
   */
  readonly memoryPattern?: boolean;
  /** Whether the engine may keep memory between runs instead of giving it back. Default: the engine's own default. */
  readonly memoryArena?: boolean;
}

/**
 * Bounds on what a model may take, so that no file and no request takes more than its share. They refuse no candidate: a backend obeys those that
 * apply to how it works.
 */
export interface LoadLimits {
  /**
   * Milliseconds that turning a model into one program may take, for an engine that traces models; a millisecond more for each 8192 elements of
   * its weights. Default: the engine's own, 30 seconds.
   */
  readonly maxTraceTime?: number;
  /**
   * Bytes that turning a model into one program may hold, beside 16 bytes for each element of its weights, for an engine that traces models.
   * Default: the engine's own, 512 MiB.
   */
  readonly maxTraceMemory?: number;
  /** Bytes one run may take beside the weights: LIMIT_EXCEEDED where it would take more. Default: no limit. */
  readonly maxRunMemory?: number;
}

/** The place of a model among its copies on threads of this process. What they only read may lie in memory once. */
export interface ReplicaSlot {
  /** A word of 32 bits for each copy: a number that no other one has or had, from 1 on; 0 as soon as its thread has ended, however it did. Not the backend's to write. */
  readonly members: SharedArrayBuffer;
  /** Which word is this model's. The one whose word is the first counts what all share as its own memory. */
  readonly index: number;
  /** What another copy gave: see `Sharing`. Default: it is the first, or there was nothing to give. */
  readonly from?: unknown;
}

/** What a model offers its copies: those of the same files, on the same device, with the same settings but `threads`. */
export interface ReplicaSharing {
  /** What a copy takes as `CopyPlace.from`. It can be posted to another thread. undefined: nothing yet. */
  exportState(): unknown;
  /** Bytes that another copy takes for itself; an estimate. */
  readonly replicaBytes: number;
}

export interface LoadOptions extends LoadSettings, LoadLimits {
  /** Given where copies could share memory. A backend that cannot share need not look at it. */
  readonly copy?: ReplicaSlot;
  /** Aborted: stop as soon as possible, free everything and throw ABORTED. */
  readonly signal?: AbortSignal;
}

/** A model on one device. More kinds (token by token, for language models) join this union as they are built. */
export type LoadedModel = TensorModel;

/** Named tensors in, named tensors out. */
export interface TensorModel {
  readonly kind: "tensor";
  readonly inputs: readonly TensorInfo[];
  /** Those that are tensors, at least one. */
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  /**
   * Memory the model holds now: "allocated" is what the engine allocated, "weights" the size of the weights where an engine does not tell,
   * "resident" the most that the process which holds the model and nothing else was seen to take.
   */
  readonly memory: { readonly bytes: number; readonly measure: "allocated" | "weights" | "resident" };
  /** Where it was given a place among copies, and shares memory with them. Default: it does not. */
  readonly sharing?: ReplicaSharing | undefined;

  /**
   * Runs once. Refuses wrong inputs with INPUT_INVALID (see `checkInputs`), and after disposal throws DISPOSED. Calls may overlap;
   * the results are those of serial calls. Inputs belong to the model until the promise settles; outputs belong to the caller.
   */
  run(inputs: TensorMap, options?: RunOptions): Promise<TensorMap>;

  /**
   * What the engine itself says about where it computed, called once, after the first run; sentences such as
   * "profile: 187 nodes on CPUExecutionProvider". Empty where the engine says nothing; never what was asked for.
   * Throws VERIFICATION_FAILED where the engine says it computed elsewhere.
   */
  evidence(): Promise<readonly string[]>;

  /** Waits for running calls, then frees the memory. A second call does nothing. */
  dispose(): Promise<void>;
}

export interface RunOptions {
  /** Names of the outputs wanted. Default: all; MODEL_UNSUPPORTED where one of them is no tensor (a sequence, a map). */
  readonly outputs?: readonly string[];
  /** Aborted before the run starts: throws ABORTED. Aborted during it: throws ABORTED at once where the engine can stop, else when it ends. */
  readonly signal?: AbortSignal;
}

/** A fact about this machine and where it was read. */
export interface Fact<T> {
  readonly value: T;
  readonly source: string;
}

/** What is known of this machine, gathered by `devices/`. */
export interface MachineFacts {
  /** Node.js names, for example "linux" and "x64"; in a browser "browser" and "wasm32". */
  readonly platform: NodeJS.Platform | "browser";
  readonly architecture: string;
  readonly cpu: CpuFacts;
  /** Bytes; limits of the control group are already applied. */
  readonly memory: { readonly total: Fact<number>; readonly available: Fact<number> };
  readonly accelerators: readonly Accelerator[];
  /** For every kind of accelerator that was looked for and not found: the reason, as a sentence without a full stop. */
  readonly absent: Readonly<Partial<Record<DeviceType, string>>>;
}

export interface CpuFacts {
  readonly model: Fact<string>;
  /** Instruction sets, in upper-case spelling with the vendor's hyphens: "AVX2", "AVX-512 VNNI", "NEON". */
  readonly features: Fact<readonly string[]>;
  /** Logical processors this process may run on. */
  readonly cores: Fact<number>;
  /** Processors this process may use at once: the affinity mask and the control group's quota, at least 1; may be a fraction. */
  readonly quota: Fact<number>;
}

export interface Accelerator {
  readonly device: Device;
  readonly name: string;
  readonly source: string;
  readonly memory?: { readonly totalBytes: number; readonly freeBytes?: number };
  /** NVIDIA: the chip's capability, for example "9.0". Not a CUDA version. */
  readonly computeCapability?: string;
  /** NVIDIA: the newest CUDA version the driver supports, for example "13.0". */
  readonly cudaVersion?: string;
  readonly driverVersion?: string;
}
