/** Vectors of 32-bit lanes at one level of the processor, and access to the first lanes of a vector alone, for ends of rows. */
import { Assembler } from "../assembler/assembler.ts";
import type { MaskRegister, Memory, Register, Vector, VectorBits } from "../assembler/operands.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";

/** The mask of `VectorUnit.setTail`: a mask register in EVEX, otherwise a vector register. */
const tailMask: MaskRegister = 1;
const tailVector: Vector = 15;

/** An assembler for one level, with masks for ends of rows. */
export class VectorUnit {
  readonly asm: Assembler;
  readonly bits: VectorBits;
  /** 32-bit lanes of a vector. */
  readonly lanes: 8 | 16;
  readonly hasEvex: boolean;
  /** Vector registers that kernels may use; the mask of tails takes one in VEX. */
  readonly vectors: number;

  constructor(level: X64Level) {
    this.hasEvex = level !== "AVX2";
    this.bits = this.hasEvex ? 512 : 256;
    this.lanes = this.hasEvex ? 16 : 8;
    this.vectors = this.hasEvex ? 32 : 15;
    this.asm = new Assembler({ bits: this.bits, hasEvex: this.hasEvex });
  }

  /** Bytes of a vector. */
  get bytes(): number {
    return this.bits / 8;
  }

  /** Makes the first lanes those that `loadTail` and `storeTail` access. `count`: a register with 0 to `lanes`, which is changed, as is `free`. */
  setTail(count: Register, free: Register): void {
    if (this.hasEvex) {
      this.asm.loadImmediate(free, -1);
      this.asm.clearHighBits(free, free, count);
      this.asm.vector("kmovw", tailMask, free);
      return;
    }
    const ones = Array<number>(this.lanes).fill(-1);
    this.asm.address(free, this.asm.integers(...ones, ...ones.map(() => 0)));
    this.asm.negate(count);
    this.asm.vector("vmovups", tailVector, { base: free, index: count, scale: 4, displacement: this.bytes });
  }

  /** Loads the lanes of the tail; the others are 0. Reads no byte of the others. */
  loadTail(to: Vector, from: Memory): void {
    if (this.hasEvex) this.asm.vector("vmovups", to, from, { mask: tailMask, zeroing: true });
    else this.asm.vector("vmaskmovps", to, tailVector, from);
  }

  /** to = the lanes of the tail of one vector, and the other lanes of another. */
  mergeTail(to: Vector, tail: Vector, others: Vector): void {
    if (this.hasEvex) this.asm.vector("vblendmps", to, others, tail, { mask: tailMask });
    else this.asm.vector("vblendvps", to, others, tail, tailVector);
  }

  /** Stores the lanes of the tail. Writes no byte of the others. */
  storeTail(to: Memory, from: Vector): void {
    if (this.hasEvex) this.asm.vector("vmovupsStore", to, from, { mask: tailMask });
    else this.asm.vector("vmaskmovpsStore", to, tailVector, from);
  }

  /** One int32 in all lanes of a constant: a broadcast operand in EVEX, a whole vector in VEX. */
  splat(value: number): ReturnType<Assembler["integers"]> {
    return this.asm.integers(...Array<number>(this.hasEvex ? 1 : this.lanes).fill(value));
  }

  /** The mask register of the tail, in EVEX. */
  get tailMask(): MaskRegister {
    return tailMask;
  }
}

/** What the code of a program on lanes needs of a unit. */
export type LaneUnit = Pick<VectorUnit, "asm" | "hasEvex" | "splat">;
