/** Assembles kernels into WebAssembly modules, and instantiates modules over a memory. */
import { InferyardError } from "../../../contract/errors.ts";
import type { WasmFeatures } from "./assembler/wasm-features.ts";
import { hostFunctions } from "./assembler/host-functions.ts";
import { ModuleBuilder, importNames } from "./assembler/module-builder.ts";
import type { InstalledKernel } from "../x64/machine-kernel.ts";
import { type WasmMemory, type WasmModule, wasmHost } from "./assembler/webassembly.ts";
import type { Kernel, KernelCall, CompiledKernel } from "./kernel.ts";

/** The exported functions of compiled modules by kernel key. */
export type KernelFunctions = ReadonlyMap<string, CompiledKernel>;

/** A compiled WebAssembly module and its exported functions, instantiated over one memory. */
export interface CompiledKernels {
  /** The compiled module. Can be posted to workers that hold the same memory, which call `instantiateKernels`. */
  readonly module: WasmModule;
  /** The binary of the module. Default: it is not known, since another thread compiled it. */
  readonly binary?: Uint8Array<ArrayBuffer>;
  readonly functions: KernelFunctions;
  /** Kernels of machine code that take the place of functions of the module, and the module that binds them on other threads. Default: none. */
  readonly machineCode?: { readonly module: string; readonly kernels: readonly InstalledKernel[] };
}

/** Assembles the binary of a module that exports each distinct kernel under its key. `shared` states whether the module imports a shared memory. */
export function assembleKernels(
  kernels: readonly Kernel[],
  options: { readonly features: WasmFeatures; readonly shared: boolean },
): Uint8Array<ArrayBuffer> {
  const builder = new ModuleBuilder(options.features);
  const distinct = new Map(kernels.map((kernel) => [kernel.key, kernel]));
  for (const kernel of distinct.values()) builder.function(kernel.key, "i32", (f) => kernel.emit(f));
  return builder.build({ shared: options.shared });
}

/** Compiles kernels synchronously on the calling thread and instantiates them over `memory`. A few dozen kernels take milliseconds. */
export function compileKernels(kernels: readonly Kernel[], memory: WasmMemory, features: WasmFeatures): CompiledKernels {
  const binary = assembleKernels(kernels, { features, shared: isShared(memory) });
  const module = new (wasmHost().Module)(binary);
  return { module, binary, functions: instantiateKernels(module, memory) };
}

/** Instantiates a module over `memory` and returns its kernel functions by key. The module may have been compiled on another thread. */
export function instantiateKernels(module: WasmModule, memory: WasmMemory): KernelFunctions {
  const [space, name] = importNames.memory;
  const imports = { [space]: { [name]: memory }, [importNames.host]: hostFunctions };
  return new Map(Object.entries(new (wasmHost().Instance)(module, imports).exports));
}

/** Looks up the compiled function of a kernel by its key. Throws CONTRACT_VIOLATION if the kernel was not compiled. */
export function kernelFunction(functions: KernelFunctions, kernel: KernelCall): CompiledKernel {
  const found = functions.get(kernel.key);
  if (found !== undefined) return found;
  throw new InferyardError("CONTRACT_VIOLATION", `the kernel ${kernel.key} was not compiled`);
}

function isShared(memory: WasmMemory): boolean {
  return typeof SharedArrayBuffer !== "undefined" && memory.buffer instanceof SharedArrayBuffer;
}
