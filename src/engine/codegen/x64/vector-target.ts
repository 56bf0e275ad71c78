/** What the levels of x86-64 mean for generated code: width and number of vector registers, and the instructions for products of bytes. */
import type { X64Level } from "../../../kernels/simd-levels.ts";
import { Assembler, type AssemblerTarget } from "./assembler/assembler.ts";
import type { Vector } from "./assembler/operands.ts";
import { RegisterPool } from "./assembler/register-pool.ts";

/** A level as kernels see it. */
export interface VectorTarget extends AssemblerTarget {
  readonly bits: 256 | 512;
  /** 32-bit lanes of a vector. */
  readonly lanes: 8 | 16;
  /** Bytes of a vector. */
  readonly bytes: 32 | 64;
  /** Number of vector registers. */
  readonly registers: 16 | 32;
  /** Whether it multiplies and adds bytes in one instruction (vpdpbusd). */
  readonly hasByteDot: boolean;
}

const narrow: VectorTarget = { bits: 256, lanes: 8, bytes: 32, registers: 16, hasEvex: false, hasByteDot: false };
const wide: VectorTarget = { bits: 512, lanes: 16, bytes: 64, registers: 32, hasEvex: true, hasByteDot: false };

const targets: Readonly<Record<X64Level, VectorTarget>> = {
  AVX2: narrow,
  "AVX-512": wide,
  "AVX-512 VNNI": { ...wide, hasByteDot: true },
};

/** The properties of a level. */
export function vectorTarget(level: X64Level): VectorTarget {
  return targets[level];
}

/** An assembler for a level, and all its vector registers. */
export function openAssembler(target: VectorTarget): { readonly asm: Assembler; readonly vectors: RegisterPool<Vector> } {
  const numbers = Array.from({ length: target.registers }, (_, index) => index);
  return { asm: new Assembler(target), vectors: new RegisterPool("vector", numbers) };
}
