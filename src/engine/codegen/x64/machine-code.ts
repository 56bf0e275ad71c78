/** What the engine needs of the platform to call machine code. Backends provide it, since the engine calls no native functions itself. */
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { WasmMemory } from "../wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../wasm/compile.ts";
import type { CompiledKernel } from "../wasm/kernel.ts";
import type { InstalledKernel, MachineKernel } from "./machine-kernel.ts";

/** Makes functions that call installed kernels, instead of WebAssembly functions over `memory`. */
export type BindMachineKernel = (kernel: InstalledKernel, memory: WasmMemory) => CompiledKernel;

/** Kernels linked to one object, which can be installed in any process on processors of their level. Plain data. */
export interface MachineObject {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly kernels: readonly LinkedKernel[];
}

/** A kernel of an object. */
export interface LinkedKernel extends Pick<MachineKernel, "key" | "level" | "arguments"> {
  /** Position of the function that calls it, as the writer of the object counts. */
  readonly callback: number;
}

/** Objects that outlive the process. No method throws. */
export interface MachineCodeCache {
  /** Why objects are not kept, as a clause; undefined as long as nothing failed. */
  readonly problem: string | undefined;
  /** The object that was kept for kernels with these keys, in this order; undefined if there is none. */
  read(keys: readonly string[]): MachineObject | undefined;
  /** Keeps the object that was generated for kernels with these keys. */
  write(keys: readonly string[], object: MachineObject): void;
}

/** Executable memory, and calls of the code in it. */
export interface MachineCode {
  /** URL of a module whose export `bindMachineCode`, a function without parameters, resolves to `bind` on another thread. */
  readonly module: string;
  readonly bind: BindMachineKernel;
  /** The level that kernels are generated for: the highest of the processor, or a lower one that was asked for. */
  readonly level: X64Level;
  /** Keeps linked kernels for later processes. Default: they are generated in each process. */
  readonly cache?: MachineCodeCache | undefined;
  /** Links kernels with different keys to one object. */
  link(kernels: readonly MachineKernel[]): MachineObject;
  /** Copies the code of an object into executable memory. It stays there until `free`. Throws BACKEND_UNAVAILABLE where the system refuses. */
  installObject(object: MachineObject): readonly InstalledKernel[];
  /** Links and installs kernels. */
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
  return machineCode === undefined ? compiled : withInstalled(compiled, machineCode.install(distinct), memory, machineCode);
}

/** Adds the functions of installed kernels to compiled ones, or puts them in the place of functions with the same keys. */
export function withInstalled(
  compiled: CompiledKernels,
  installed: readonly InstalledKernel[],
  memory: WasmMemory,
  { module, bind }: Pick<MachineCode, "module" | "bind">,
): CompiledKernels {
  if (installed.length === 0) return compiled;
  return {
    ...compiled,
    functions: withBound(compiled.functions, installed, memory, bind),
    machineCode: { module, kernels: installed },
  };
}

/** The functions by key, in their order. Installed kernels replace functions with the same key; the others follow. */
export function withBound(
  functions: ReadonlyMap<string, CompiledKernel>,
  installed: readonly InstalledKernel[],
  memory: WasmMemory,
  bind: BindMachineKernel,
): ReadonlyMap<string, CompiledKernel> {
  const bound = new Map(functions);
  for (const kernel of installed) bound.set(kernel.key, bind(kernel, memory));
  return bound;
}
