/** What one loaded model on the engine is made with. */
import type { WasmFeatures } from "../codegen/wasm/index.ts";
import type { MachineCode } from "../codegen/x64/index.ts";
import type { DiscardPages } from "../memory/idle-pages.ts";
import type { OptimizationLevel } from "../passes/index.ts";
import type { ThreadHandle } from "../threads/thread-pool.ts";
import type { EngineReplica } from "./engine-replicas.ts";
import type { KernelChecks } from "./kernel-checks/kernel-checks.ts";
import type { RunLimits } from "./segments/model-run.ts";

/** Settings of the engine for one loaded model. */
export interface EngineSettings {
  /** WebAssembly features of this machine. */
  readonly features: WasmFeatures;
  /** How far graphs are rewritten before they are compiled. Default: "all". */
  readonly graphOptimization?: OptimizationLevel;
  /** Number of threads that compute, including the caller. Default: 1. */
  readonly threads?: number;
  /** Checks of generated code before its first use. Default: none, for tests of the engine itself. */
  readonly kernelChecks?: KernelChecks;
  /** Calls kernels that have machine code; freed with the model. Or why there is none: a sentence without a full stop. Default: WebAssembly computes all kernels. */
  readonly machineCode?: MachineCode | string;
  /** Prepares the function that returns free pages of the memory to the operating system. Default: free pages are kept until the model is unloaded. */
  readonly openDiscard?: (() => Promise<DiscardPages | undefined>) | undefined;
  /** Ids of kernels for quantized weights that are preferred, the most preferred first. Default: none. Without `kernelChecks` it has no effect. */
  readonly kernelPreference?: readonly string[];
  /** Starts a worker thread. Required if `threads` is above 1. */
  spawnThread?(): ThreadHandle;
  /** Identifies this model among replicas that share memory. Default: the model shares no memory. */
  readonly replica?: EngineReplica;
  /** Limits of traces and runs. Default: `defaultTraceLimits`, and no limit on the bytes of a run except the size of the memory. */
  readonly limits?: RunLimits;
  /** Whether plans are collected for later processes: see `EngineModel.takePlans`. Default: false. */
  readonly keepsPlans?: boolean;
}
