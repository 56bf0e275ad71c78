/** Runs kernels as machine code, beside their WebAssembly functions. */
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import type { Kernel } from "../../src/engine/codegen/wasm/kernel.ts";
import { type MachineCode, generateMachineKernels, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { highestX64Level, x64Levels, type X64Level } from "../../src/kernels/simd-levels.ts";
import { KernelMemory, features } from "./kernel-memory.ts";

/** Machine code for a level, or why this machine has none. */
export function openLevel(level: X64Level): MachineCode | string {
  if (process.platform !== "linux" || process.arch !== "x64") return "machine code is for linux x64";
  const { features: found, create } = openMachineCode!();
  const highest = highestX64Level(found);
  if (highest === undefined || x64Levels.indexOf(level) > x64Levels.indexOf(highest)) return `this processor has no ${level}`;
  return create(level);
}

type Values =
  | Float32Array
  | Int32Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | BigInt64Array
  | Float64Array;

/**
 * The bytes of the last parameter but scratch, by WebAssembly and by machine code; in one call, and in `calls` calls from the last to the first. Throws if a byte behind a
 * tensor is written, and if there is no machine code.
 */
export function runBoth(
  kernel: Kernel,
  inputs: Readonly<Record<string, Values>>,
  outputBytes: number,
  machineCode: MachineCode,
  calls = 3,
): { readonly wasm: Uint8Array; readonly machine: readonly Uint8Array[] } {
  const memory = new KernelMemory(1024 * 1024 + kernel.scratchBytes + 2 * outputBytes);
  const offsets = new Map(Object.entries(inputs).map(([name, values]) => [name, memory.put(values).offset]));
  const output = memory.room(Uint8Array, outputBytes);
  offsets
    .set("y", output.offset)
    .set("output", output.offset)
    .set("scratch", memory.room(Uint8Array, kernel.scratchBytes).offset);
  const operands = kernel.parameters.map((name) => offsets.get(name)!);
  memory.run(kernel, operands);
  const wasm = output.data.slice();
  const machineKernels = generateMachineKernels([kernel], machineCode);
  if (machineKernels.length === 0) throw new Error(`there is no machine code for ${kernel.key}`);
  const compiled = compileKernels([kernel], memory.memory, features);
  const run = kernelFunction(withMachineCode(compiled, machineKernels, memory.memory, machineCode).functions, kernel);
  const machine = [1, calls].map((count) => {
    output.data.fill(0xff);
    const share = Math.max(1, Math.ceil(kernel.pieces / count));
    for (let from = (count - 1) * share; from >= 0; from -= share)
      if (from < kernel.pieces) run(...kernel.dynamicSizes, ...operands, from, Math.min(from + share, kernel.pieces));
    memory.checkGuards(kernel.key);
    return output.data.slice();
  });
  machineCode.free();
  return { wasm, machine };
}
