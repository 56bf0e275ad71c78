/** Arithmetic on vectors of float32 with constants, for both encodings. The functions of `../../wasm/math` are built on it, with the same order of operations. */
import { at } from "../../../../contract/checked.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { ConstantMemory, Vector } from "../assembler/operands.ts";
import type { RegisterPool } from "../assembler/register-pool.ts";
import type { VectorOptions } from "../assembler/vector-encoding.ts";

/** Instructions with a destination, a source, and a source that may be a constant. */
type ConstantOperation =
  | "vaddps"
  | "vsubps"
  | "vmulps"
  | "vminps"
  | "vmaxps"
  | "vdivps"
  | "vfmadd132ps"
  | "vfmadd213ps"
  | "vfmadd231ps"
  | "vfnmadd231ps"
  | "vpaddd"
  | "vpsubd"
  | "vpand"
  | "vpor"
  | "vpxor";

/** Emits arithmetic on whole vectors, with temporaries from a pool. */
export class FloatCode {
  readonly asm: Assembler;
  readonly vectors: RegisterPool<Vector>;

  constructor(asm: Assembler, vectors: RegisterPool<Vector>) {
    this.asm = asm;
    this.vectors = vectors;
  }

  /** to = operation(first, value), where `value` is a float32 constant in all lanes. In fused operations `to` is also a source. */
  withConstant(name: ConstantOperation, to: Vector, first: Vector, value: number): void {
    this.asm.vector(name, to, first, ...this.#floats(value));
  }

  /** The same with an int32 constant in all lanes. */
  withInteger(name: ConstantOperation, to: Vector, first: Vector, value: number): void {
    const { hasEvex, bits } = this.asm.target;
    if (hasEvex) this.asm.vector(name, to, first, this.asm.integers(value), { broadcast: true });
    else this.asm.vector(name, to, first, this.asm.integers(...Array<number>(bits / 32).fill(value)));
  }

  /** Sets all lanes to a float32 constant. */
  set(to: Vector, value: number): void {
    this.asm.vector("vbroadcastss", to, this.asm.floats(value));
  }

  /** Clamps to a range. NaN stays NaN, since the second source of a minimum or maximum is the result where they do not compare. */
  clamp(x: Vector, min: number, max: number): void {
    this.vectors.with(1, ([bound = 0]) => {
      this.set(bound, max);
      this.asm.vector("vminps", x, bound, x);
      this.set(bound, min);
      this.asm.vector("vmaxps", x, bound, x);
    });
  }

  /** to = coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ... with Horner's rule. `to` differs from `x`. */
  polynomial(to: Vector, x: Vector, coefficients: readonly number[]): void {
    this.set(to, at(coefficients, coefficients.length - 1));
    for (const coefficient of coefficients.slice(0, -1).toReversed()) this.withConstant("vfmadd213ps", to, x, coefficient);
  }

  #floats(value: number): [ConstantMemory, VectorOptions] {
    const { hasEvex, bits } = this.asm.target;
    if (hasEvex) return [this.asm.floats(value), { broadcast: true }];
    return [this.asm.floats(...Array<number>(bits / 32).fill(value)), {}];
  }
}
