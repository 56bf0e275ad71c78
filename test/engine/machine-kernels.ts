/** Runs kernels as machine code, beside their WebAssembly functions. */
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { wasmPageBytes } from "../../src/engine/codegen/wasm/assembler/webassembly.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import type { Kernel } from "../../src/engine/codegen/wasm/kernel.ts";
import { type MachineCode, generateMachineKernels, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { highestX64Level, levelRank, type X64Level } from "../../src/kernels/simd-levels.ts";
import { KernelMemory, type Numbers, features } from "./kernel-memory.ts";

/** Machine code for a level, or why this machine has none. */
export function openLevel(level: X64Level): MachineCode | string {
  if (process.platform !== "linux" || process.arch !== "x64" || openMachineCode === undefined)
    return "machine code is for linux x64";
  const { features: found, create } = openMachineCode();
  const highest = highestX64Level(found);
  if (highest === undefined || levelRank(highest) < levelRank(level)) return `this processor has no ${level}`;
  return create(level);
}

/** How `runBoth` runs a kernel. */
export interface RunBothOptions {
  /** Calls of the machine code, from the last pieces to the first. Default: 3. */
  readonly calls?: number;
  /** The operand at the end of the memory, so that reading far beyond it ends the process. Default: none. */
  readonly last?: string;
}

/**
 * The bytes of the last operand, which is the output, by WebAssembly and by machine code; the latter in one call, and in several. Operands that the kernel does not take
 * are left out. Throws if a byte behind a tensor is written, and if there is no machine code.
 */
export function runBoth(
  kernel: Kernel,
  operands: Readonly<Record<string, Numbers>>,
  machineCode: MachineCode,
  { calls = 3, last }: RunBothOptions = {},
): { readonly wasm: Uint8Array; readonly machine: readonly Uint8Array[] } {
  const bytes = Object.values(operands).reduce((sum, { byteLength }) => sum + byteLength + 128, kernel.scratchBytes);
  const memory = new KernelMemory(2 * wasmPageBytes + bytes);
  const places = new Map(
    Object.entries(operands).map(([name, values]) => [name, name === last ? memory.putAtEnd(values) : memory.put(values)]),
  );
  if (kernel.scratchBytes > 0) places.set("scratch", memory.room(Uint8Array, kernel.scratchBytes));
  const offsets = kernel.parameters.map((name) => places.get(name)!.offset);
  const output = places.get(Object.keys(operands).at(-1)!)!;
  const written = new Uint8Array(memory.memory.buffer, output.offset, output.data.byteLength);
  memory.run(kernel, offsets);
  const wasm = written.slice();
  const machine = [1, calls].map((count) => {
    written.fill(0x5a);
    runMachineCode(memory, kernel, offsets, machineCode, count);
    return written.slice();
  });
  return { wasm, machine };
}

/** Runs the machine code of a kernel in so many calls, from the last pieces to the first. Throws if a byte behind a tensor is written, and if there is no machine code. */
export function runMachineCode(
  memory: KernelMemory,
  kernel: Kernel,
  offsets: readonly number[],
  machineCode: MachineCode,
  calls = 1,
): void {
  const generated = generateMachineKernels([kernel], machineCode);
  if (generated.length === 0) throw new Error(`there is no machine code for ${kernel.key}`);
  const compiled = withMachineCode(compileKernels([kernel], memory.memory, features), generated, memory.memory, machineCode);
  const run = kernelFunction(compiled.functions, kernel);
  const share = Math.max(1, Math.ceil(kernel.pieces / calls));
  for (let from = (calls - 1) * share; from >= 0; from -= share)
    if (from < kernel.pieces) run(...kernel.dynamicSizes, ...offsets, from, Math.min(from + share, kernel.pieces));
  machineCode.free();
  memory.checkGuards(kernel.key);
}

/** Throws unless machine code gives the bits of WebAssembly. See `runBoth`. */
export function expectSameBits(
  kernel: Kernel,
  operands: Readonly<Record<string, Numbers>>,
  machineCode: MachineCode,
  options?: RunBothOptions,
): void {
  const { wasm, machine } = runBoth(kernel, operands, machineCode, options);
  for (const computed of machine) {
    const different = wasm.findIndex((byte, index) => byte !== computed[index]);
    if (different >= 0) throw new Error(`${kernel.key}: byte ${different} of the output differs`);
  }
}
