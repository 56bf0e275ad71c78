/** What all models of one backend share. Nothing here imports the engine, which restored models do without. */
import type { Library } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { detectWasmFeatures } from "../../engine/codegen/wasm/assembler/features.ts";
import type { WasmFeatures } from "../../engine/codegen/wasm/assembler/wasm-features.ts";
import { enableRelaxedSimd } from "../../engine/codegen/wasm/v8-flags.ts";
import type { KernelChecks } from "../../engine/execute/kernel-checks/kernel-checks.ts";
import { type CodeIdentity, identifyCode } from "./check-record.ts";
import type { KeptFolders } from "./kept/kept-files.ts";
import { type MachineCodeSource, openMachineCode } from "./machine-code/machine-code.ts";

/** State shared by all models of one backend. */
export interface NativeState {
  /** Name and version of the engine. */
  readonly library: Library;
  /** WebAssembly features of this machine, once they were looked for. */
  features?: WasmFeatures;
  /** What generated code depends on, once it was looked for; undefined where it is not known. */
  identity?: { readonly value: CodeIdentity | undefined };
  /** Results of the checks made until now. Each function is checked once in a process or thread. */
  kernelChecks?: KernelChecks;
  /** Calls of machine code, or why there is none. Default: no model has been loaded that may use it. */
  machineCode?: MachineCodeSource | string;
  /** See `MachineCodeSource.openCache`. Default: no model has been loaded that may use it. */
  machineCodeCache?: ReturnType<MachineCodeSource["openCache"]>;
  /** The folders of plans. Default: no model has been loaded that may use them. */
  keptFolders?: Promise<KeptFolders | undefined>;
}

/** WebAssembly features of this machine. */
export function featuresOf(state: NativeState): WasmFeatures {
  return (state.features ??= detectWasmFeatures(enableRelaxedSimd));
}

/** What generated code depends on; undefined where it is not known: see `identifyCode`. */
export function codeIdentityOf(state: NativeState): CodeIdentity | undefined {
  return (state.identity ??= { value: identifyCode(featuresOf(state)) }).value;
}

/** Opens machine code for all models of a backend, or remembers why there is none. The checks get to know it. */
export function openOnce(state: NativeState): MachineCodeSource | string {
  if (state.machineCode !== undefined) return state.machineCode;
  state.machineCode = open(state);
  if (state.kernelChecks !== undefined) connectMachineCode(state.kernelChecks, state.machineCode);
  return state.machineCode;
}

function open(state: NativeState): MachineCodeSource | string {
  if (openMachineCode === undefined) return "a page calls no native code";
  if (!featuresOf(state).simd) return "WebAssembly has no SIMD here, over whose memory machine code computes";
  try {
    return openMachineCode();
  } catch (error) {
    if (error instanceof InferyardError) return error.message;
    throw error;
  }
}

/** Tells the checks how machine code is called, or why there is none. */
export function connectMachineCode(checks: KernelChecks, source: MachineCodeSource | string): void {
  if (typeof source === "string") checks.blockKernels.refuseMachineCode(source);
  else checks.addMachineCode(source.create, source.features);
}
