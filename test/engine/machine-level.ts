/** Runs kernels in machine code of one level in tests, if this machine has it. */
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import type { Kernel } from "../../src/engine/codegen/wasm/kernel.ts";
import { type MachineCode, type MachineKernel, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { type X64Level, highestX64Level, levelRank } from "../../src/kernels/simd-levels.ts";
import { wasmPageBytes } from "../../src/engine/codegen/wasm/assembler/webassembly.ts";
import { KernelMemory, type Numbers, features } from "./kernel-memory.ts";

export class MachineLevel {
  /** Why kernels of the level cannot run here. */
  readonly problem: string | undefined;
  readonly #machineCode: MachineCode | undefined;

  private constructor(problem: string | undefined, machineCode: MachineCode | undefined) {
    this.problem = problem;
    this.#machineCode = machineCode;
  }

  static open(level: X64Level): MachineLevel {
    if (process.platform !== "linux" || process.arch !== "x64" || openMachineCode === undefined)
      return new MachineLevel("machine code is for linux x64", undefined);
    const { features: found, create } = openMachineCode();
    const highest = highestX64Level(found);
    if (highest === undefined || levelRank(highest) < levelRank(level))
      return new MachineLevel(`this processor has no ${level}`, undefined);
    return new MachineLevel(undefined, create());
  }

  /**
   * Runs a kernel as WebAssembly and as machine code, the latter in `splits` calls, and throws if the bits of the output, the last of the operands, differ. `last`: the
   * operand that is at the end of the memory; reading far beyond it ends the process.
   */
  expectSameBits(
    kernel: Kernel,
    code: MachineKernel,
    operands: Readonly<Record<string, Numbers>>,
    last: string,
    splits: number,
  ): void {
    const bytes = Object.values(operands).reduce((sum, { byteLength }) => sum + byteLength + 128, kernel.scratchBytes);
    const memory = new KernelMemory(2 * wasmPageBytes + bytes);
    const places = new Map<string, { readonly offset: number; readonly data: Numbers }>();
    for (const [name, values] of Object.entries(operands)) {
      if (name !== last) places.set(name, memory.put(values));
      else {
        const place = memory.roomAtEnd(
          values.constructor as new (buffer: ArrayBuffer, offset: number, length: number) => Numbers,
          values.length,
        );
        (place.data as Float32Array).set(values as Float32Array);
        places.set(name, place);
      }
    }
    if (kernel.scratchBytes > 0) places.set("scratch", memory.room(Uint8Array, kernel.scratchBytes));
    const offsets = kernel.parameters.map((name) => places.get(name)!.offset);
    const output = places.get(Object.keys(operands).at(-1)!)!;
    const bits = (): Uint8Array => new Uint8Array(memory.memory.buffer, output.offset, output.data.byteLength);
    memory.run(kernel, offsets);
    const expected = bits().slice();
    bits().fill(0x5a);
    this.run(memory, kernel, code, offsets, splits);
    const computed = bits();
    const different = expected.findIndex((byte, index) => byte !== computed[index]);
    if (different >= 0) throw new Error(`${kernel.key}: byte ${different} of the output differs`);
  }

  /** Runs machine code in as many calls as `splits` asks for, from the last pieces to the first, and checks what lies behind tensors. */
  run(memory: KernelMemory, kernel: Kernel, code: MachineKernel, offsets: readonly number[], splits = 1): void {
    const compiled = withMachineCode(compileKernels([kernel], memory.memory, features), [code], memory.memory, this.#machineCode);
    const run = kernelFunction(compiled.functions, kernel);
    const share = Math.ceil(kernel.pieces / splits);
    for (let from = (splits - 1) * share; from >= 0; from -= share)
      if (from < kernel.pieces) run(...kernel.dynamicSizes, ...offsets, from, Math.min(from + share, kernel.pieces));
    this.#machineCode?.free();
    memory.checkGuards(kernel.key);
  }
}
