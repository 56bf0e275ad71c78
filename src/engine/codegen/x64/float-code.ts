/** Arithmetic on vectors of float32 with constants, for both encodings. */
import type { Assembler } from "./assembler/assembler.ts";
import type { ConstantMemory, Vector } from "./assembler/operands.ts";
import type { RegisterPool } from "./assembler/register-pool.ts";

/** Emits arithmetic on whole vectors, with temporaries from a pool. */
export class FloatCode {
  readonly asm: Assembler;
  readonly vectors: RegisterPool<Vector>;

  constructor(asm: Assembler, vectors: RegisterPool<Vector>) {
    this.asm = asm;
    this.vectors = vectors;
  }

  get hasEvex(): boolean {
    return this.asm.target.hasEvex;
  }

  /** to = operation(first, value), where `value` is a float32 constant in all lanes. */
  withConstant(name: "vmulps", to: Vector, first: Vector, value: number): void {
    this.withInteger(name, to, first, new Int32Array(Float32Array.of(value).buffer)[0] ?? 0);
  }

  /** to = operation(first, value), where `value` is an int32 constant in all lanes. */
  withInteger(name: "vmulps" | "vpsubd", to: Vector, first: Vector, value: number): void {
    this.asm.vector(name, to, first, this.splat(value), this.hasEvex ? { broadcast: true } : {});
  }

  /** Sets all lanes to a float32 constant. */
  set(to: Vector, value: number): void {
    this.asm.vector("vbroadcastss", to, this.asm.floats(value));
  }

  /** x = max(0, x). NaN stays NaN, since the second source of a maximum is the result where they do not compare. */
  clampToZero(x: Vector): void {
    this.vectors.with(1, ([zero = 0]) => {
      this.asm.clear(zero);
      this.asm.vector("vmaxps", x, zero, x);
    });
  }

  /** One int32 in all lanes of a constant: a broadcast operand in EVEX, a whole vector in VEX. */
  splat(value: number): ConstantMemory {
    return this.asm.integers(...Array<number>(this.hasEvex ? 1 : this.asm.target.bits / 32).fill(value));
  }
}
