/** What the engine needs of the platform to call machine code. Backends provide it, since the engine calls no native functions itself. */
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { WasmMemory } from "../wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../wasm/compile.ts";
import type { CompiledKernel } from "../wasm/kernel.ts";
import type { InstalledKernel, MachineKernel } from "./machine-kernel.ts";

/** Makes functions that call installed kernels, instead of WebAssembly functions over `memory`. */
export type BindMachineKernel = (kernel: InstalledKernel, memory: WasmMemory) => CompiledKernel;

/** Executable memory, and calls of the code in it. */
export interface MachineCode {
  /** URL of a module whose export `bindMachineCode`, a function without parameters, resolves to `bind` on another thread. */
  readonly module: string;
  readonly bind: BindMachineKernel;
  /** The level that kernels are generated for: the highest of the processor, or a lower one that was asked for. */
  readonly level: X64Level;
  /** Copies kernels into executable memory. They stay there until `free`. Throws BACKEND_UNAVAILABLE where the system refuses. */
  install(kernels: readonly MachineKernel[]): readonly InstalledKernel[];
  /** Frees all that was installed. No kernel may be running or be called afterwards, on any thread. */
  free(): void;
}

/** Replaces the functions of compiled kernels by machine code for the same keys. Without `machineCode` nothing is replaced. */
export function withMachineCode(
  compiled: CompiledKernels,
  kernels: readonly MachineKernel[],
  memory: WasmMemory,
  machineCode: MachineCode | undefined,
): CompiledKernels {
  const distinct = [...new Map(kernels.map((kernel) => [kernel.key, kernel])).values()];
  if (machineCode === undefined || distinct.length === 0) return compiled;
  const installed = machineCode.install(distinct);
  return {
    ...compiled,
    functions: withBound(compiled.functions, installed, memory, machineCode.bind),
    machineCode: { module: machineCode.module, kernels: installed },
  };
}

/** The functions by key, in their order; installed kernels replace functions with the same key. */
export function withBound(
  functions: ReadonlyMap<string, CompiledKernel>,
  installed: readonly InstalledKernel[],
  memory: WasmMemory,
  bind: BindMachineKernel,
): ReadonlyMap<string, CompiledKernel> {
  const bound = new Map(functions);
  for (const kernel of installed) if (bound.has(kernel.key)) bound.set(kernel.key, bind(kernel, memory));
  return bound;
}
