/** Loaded models: what all kinds have, and models from tensors to tensors. */
import type { Library } from "./availability.ts";
import type { TensorInfo, TensorMap } from "./tensor.ts";

/** Members of models of all kinds. */
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

  /**
   * Programs that a compiler has made for this model. Compilers that need seconds for a program compile when a shape first runs, so counts grow with runs; they
   * never fall. Default: the engine has no such compiler.
   */
  readonly programs?: ProgramCounts | undefined;

  /** Waits for calls in progress, then frees the memory. Idempotent. */
  dispose(): Promise<void>;
}

/** Programs of one loaded model, by where they came from. */
export interface ProgramCounts {
  readonly compiled: number;
  /** Duration of the compilation in milliseconds. */
  readonly compileMs: number;
  /** Programs that were not compiled, because a cache on disk had them. */
  readonly cached: number;
  /** Bytes of machine code read from the cache. */
  readonly cachedBytes: number;
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
   * overlap; each call returns what it would return alone. The inputs belong to the model until the promise settles, the outputs
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
