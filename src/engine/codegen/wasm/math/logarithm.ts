/** The natural logarithm on four lanes: x = 2^e m, m between sqrt(1/2) and sqrt(2), ln x = e ln 2 + ln m. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../assembler/vector.ts";
import { ln2High, ln2Low } from "./exponential.ts";
import { polynomial } from "./polynomial.ts";

const sqrtHalfBits = 0x3f3504f3;
const minNormal = 2 ** -126;
/** ln(1 + f) = f - f^2/2 + f^3 P(f), relative error below 2^-30. */
const coefficients = [
  0.3333331346511841, -0.25000008940696716, 0.2000211924314499, -0.16667994856834412, 0.142195463180542, -0.12405598163604736,
  0.11888211965560913, -0.11675615608692169, 0.06746489554643631,
];

/** ln(x) of four float32 lanes, subnormal numbers included. Error below 1.5 units in the last place. 0 gives -infinity; negative numbers give NaN. */
export function log(f: FunctionBuilder, x: V128): Local<"v128"> {
  const given = f.value(x);
  const subnormal = f.value(f32x4.lt(given, f32x4.const(minNormal)));
  const normal = f.value(v128.bitselect(f32x4.mul(given, f32x4.const(2 ** 23)), given, subnormal));
  const exponent = f.value(i32x4.shrS(i32x4.sub(normal, i32x4.const(sqrtHalfBits)), i32.const(23)));
  const fraction = f.value(f32x4.sub(i32x4.sub(normal, i32x4.shl(exponent, i32.const(23))), f32x4.const(1)));
  const shift = v128.and(subnormal, f32x4.const(-23));
  const e = f.value(f32x4.add(f32x4.convertI32x4S(exponent), shift));
  const square = f.value(f32x4.mul(fraction, fraction));
  const cubic = f32x4.mul(f32x4.mul(square, fraction), polynomial(f, fraction, coefficients));
  const small = f.madd(square, f32x4.const(-0.5), f.madd(e, f32x4.const(ln2Low), cubic));
  const result = f.value(f.madd(e, f32x4.const(ln2High), f32x4.add(fraction, small)));
  const finite = f32x4.lt(given, f32x4.const(Number.POSITIVE_INFINITY));
  const known = f.value(v128.bitselect(result, given, finite)); // infinity and NaN are their own logarithms
  const atZero = v128.bitselect(f32x4.const(Number.NEGATIVE_INFINITY), known, f32x4.eq(given, f32x4.const(0)));
  return f.value(v128.bitselect(f32x4.const(Number.NaN), atZero, f32x4.lt(given, f32x4.const(0))));
}
