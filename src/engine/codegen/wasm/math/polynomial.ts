/** Polynomial evaluation, clamping and sign transfer on four float32 lanes. The coefficients in this folder are minimax approximations. */
import { at } from "../../../../contract/checked.ts";
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4, i32x4, v128 } from "../assembler/vector.ts";

/** Evaluates coefficients[0] + coefficients[1] x + coefficients[2] x^2 + ... with Horner's rule. */
export function polynomial(f: FunctionBuilder, x: V128, coefficients: readonly number[]): V128 {
  return coefficients
    .slice(0, -1)
    .reduceRight(
      (sum, coefficient) => f.madd(sum, x, f32x4.const(coefficient)),
      f32x4.const(at(coefficients, coefficients.length - 1)),
    );
}

/** Clamps `x` to the range between two constants. NaN gives NaN. */
export function clamp(x: V128, min: number, max: number): V128 {
  return f32x4.pmax(f32x4.pmin(x, f32x4.const(max)), f32x4.const(min));
}

/** `magnitude` with the sign of `x`. */
export function withSign(f: FunctionBuilder, magnitude: V128, x: V128): Local<"v128"> {
  return f.value(v128.bitselect(x, magnitude, i32x4.const(-0x80000000)));
}
