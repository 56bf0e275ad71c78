/** The exponential function and the sigmoid on four float32 lanes. exp(x) = 2^n * exp(r) with |r| at most ln 2 / 2. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, i32x4 } from "../assembler/vector.ts";
import { clamp, polynomial } from "./polynomial.ts";

/** 2^23 + 2^22: adding it to a float32 below 2^22 rounds that number to an integer in the low bits. `bias` is the exponent bias of float32. */
const roundingBase = 12_582_912;
const bias = 127;
/** The high part of ln 2, with 16 significant bits, so that n times it is exact. The sum `ln2High` + `ln2Low` is ln 2. */
export const ln2High = 0.693145751953125;
/** The low part of ln 2: ln 2 - `ln2High`, rounded to float32. */
export const ln2Low = 1.42860682030941e-6;
/** exp(r) = 1 + r + r^2 P(r), relative error below 2^-28. */
export const expCoefficients: readonly number[] = [
  1, 1, 0.4999999403953552, 0.16666515171527863, 0.04166845604777336, 0.00836941972374916, 0.0013813140103593469,
];

/** e^x of four float32 lanes, for all arguments, including results that are infinite, 0 or subnormal. Error below 1.5 units in the last place. */
export function exp(f: FunctionBuilder, x: V128): Local<"v128"> {
  const { fraction, biased } = reduced(f, clamp(x, -104, 89));
  const n = f.value(i32x4.sub(biased, i32x4.const(bias)));
  const half = f.value(i32x4.shrS(n, i32.const(1))); // 2^n itself may be too large or too small for a float
  const power = (exponent: V128): V128 => i32x4.shl(i32x4.add(exponent, i32x4.const(bias)), i32.const(23));
  return f.value(f32x4.mul(f32x4.mul(fraction, power(half)), power(i32x4.sub(n, half))));
}

/**
 * e^x of four float32 lanes, with x clamped to -87 to 88. Faster than `exp`, for sums in which terms below e^-87 do not matter. Error below 1.5 units in
 * the last place within the range. NaN gives NaN.
 */
export function clampedExp(f: FunctionBuilder, x: V128): Local<"v128"> {
  const { fraction, biased } = reduced(f, clamp(x, -87, 88));
  return f.value(f32x4.mul(fraction, i32x4.shl(biased, i32.const(23))));
}

/** The range reduction x = n ln 2 + r: returns exp(r) as float32 lanes, and the biased exponent n + 127 as integer lanes. */
function reduced(f: FunctionBuilder, x: V128): { readonly fraction: V128; readonly biased: Local<"v128"> } {
  const value = f.value(x);
  const base = f32x4.const(roundingBase + bias);
  const rounded = f.value(f.madd(value, f32x4.const(Math.LOG2E), base));
  const n = f.value(f32x4.sub(rounded, base));
  const rest = f.value(f.madd(n, f32x4.const(-ln2Low), f.madd(n, f32x4.const(-ln2High), value)));
  return { fraction: polynomial(f, rest, expCoefficients), biased: f.value(i32x4.sub(rounded, f32x4.const(roundingBase))) };
}

/** 1 / (1 + e^-x) of four float32 lanes. Error below 3 units in the last place for x above about -87; smaller x give 1.6e-38. */
export function sigmoid(f: FunctionBuilder, x: V128): Local<"v128"> {
  return f.value(f32x4.div(f32x4.const(1), f32x4.add(f32x4.const(1), clampedExp(f, f32x4.neg(x)))));
}
