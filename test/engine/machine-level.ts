/** Runs kernels in machine code of one level in tests, if this machine has it. */
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import type { Kernel } from "../../src/engine/codegen/wasm/kernel.ts";
import { type MachineCode, type MachineKernel, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { type X64Level, highestX64Level, levelRank } from "../../src/kernels/simd-levels.ts";
import { type KernelMemory, features } from "./kernel-memory.ts";

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
