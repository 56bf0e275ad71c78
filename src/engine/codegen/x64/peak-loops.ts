/** Loops that reach the peak of the processor: multiplications in registers, and reads of memory. What kernels reach is compared with them. */
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { MachineFunction } from "./machine-kernel.ts";
import { openAssembler, vectorTarget } from "./vector-target.ts";

/** Independent sums, enough to hide the latency of an instruction. */
const sums = 10;
const repeats = 4;
const loops = 20_000;
const [first, second, ones] = [13, 14, 15] as const;
/** Vectors that are read in one pass. */
const streams = 8;

/** A function without arguments, and the multiplications and additions (each pair is one) that a call makes. */
export interface PeakLoop {
  readonly code: MachineFunction;
  readonly multiplyAdds: number;
}

/** Multiplies and adds float32 in registers, or unsigned bytes with signed ones in sums of 32 bits. */
export function peakLoop(kind: "float" | "byte", level: X64Level): PeakLoop {
  const target = vectorTarget(level);
  const { asm } = openAssembler(target);
  for (let register = 0; register < 16; register += 1) asm.clear(register);
  asm.loadImmediate("rax", loops);
  asm.countDown("rax", () => {
    for (let index = 0; index < repeats * sums; index += 1) {
      const sum = index % sums;
      if (kind === "float") asm.vector("vfmadd231ps", sum, first, second);
      else if (target.hasByteDot) asm.vector("vpdpbusd", sum, first, second);
      else {
        const product = sums + (index % 3);
        asm.vector("vpmaddubsw", product, first, second);
        asm.vector("vpmaddwd", product, product, ones);
        asm.vector("vpaddd", sum, sum, product);
      }
    }
  });
  asm.return();
  const bytesPerLane = kind === "float" ? 1 : 4;
  return { code: { ...asm.machineFunction, arguments: [] }, multiplyAdds: loops * repeats * sums * target.lanes * bytesPerLane };
}

/** Reads memory. Arguments: its address, and how often 512 bytes of it are read, above 0. */
export function sweepLoop(level: X64Level): MachineFunction {
  const target = vectorTarget(level);
  const { asm } = openAssembler(target);
  const vectors = sweepBytes / target.bytes;
  for (let index = 0; index < streams; index += 1) asm.clear(index);
  asm.countDown("rsi", () => {
    for (let index = 0; index < vectors; index += 1)
      asm.vector("vpor", index % streams, index % streams, { base: "rdi", displacement: index * target.bytes });
    asm.add("rdi", sweepBytes);
  });
  asm.return();
  return {
    ...asm.machineFunction,
    arguments: [
      { kind: "address", operand: 0, pieceBytes: 0 },
      { kind: "operand", operand: 1 },
    ],
  };
}

/** Bytes of one pass of `sweepLoop`. */
export const sweepBytes = 512;
