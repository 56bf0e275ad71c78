/** exp on four lanes: 2^n * exp(r) with |r| at most ln 2 / 2. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, i32x4 } from "../assembler/vector.ts";
import { clamp, polynomial } from "./polynomial.ts";

/** Added to a small number, it leaves the nearest integer in the low bits; 127 is the exponent's bias. */
const roundingBase = 12_582_912;
const bias = 127;
/** ln 2 in two parts: the first has 16 bits, so that n times it is exact. */
export const ln2High = 0.693145751953125;
/** The low part of ln 2: ln 2 - `ln2High`, rounded to float32. */
export const ln2Low = 1.42860682030941e-6;
/** exp(r) = 1 + r + r^2 P(r), relative error below 2^-28. */
const coefficients = [
  1, 1, 0.4999999403953552, 0.16666515171527863, 0.04166845604777336, 0.00836941972374916, 0.0013813140103593469,
];

/** Any argument, with infinity, 0 and subnormal results: error below 1.5 units in the last place. */
export function exp(f: FunctionBuilder, x: V128): Local<"v128"> {
  const { fraction, biased } = reduced(f, clamp(x, -104, 89));
  const n = f.value(i32x4.sub(biased, i32x4.const(bias)));
  const half = f.value(i32x4.shrS(n, i32.const(1))); // 2^n itself may be too large or too small for a float
  const power = (exponent: V128): V128 => i32x4.shl(i32x4.add(exponent, i32x4.const(bias)), i32.const(23));
  return f.value(f32x4.mul(f32x4.mul(fraction, power(half)), power(i32x4.sub(n, half))));
}

/** exp between -87 and 88, and the value at the end beyond: for where the rest vanishes anyway. Same error. */
export function clampedExp(f: FunctionBuilder, x: V128): Local<"v128"> {
  const { fraction, biased } = reduced(f, clamp(x, -87, 88));
  return f.value(f32x4.mul(fraction, i32x4.shl(biased, i32.const(23))));
}

/** exp(r) as a float, and n + 127 as the integer in the low bits. */
function reduced(f: FunctionBuilder, x: V128): { readonly fraction: V128; readonly biased: Local<"v128"> } {
  const value = f.value(x);
  const base = f32x4.const(roundingBase + bias);
  const rounded = f.value(f.madd(value, f32x4.const(Math.LOG2E), base));
  const n = f.value(f32x4.sub(rounded, base));
  const rest = f.value(f.madd(n, f32x4.const(-ln2Low), f.madd(n, f32x4.const(-ln2High), value)));
  return { fraction: polynomial(f, rest, coefficients), biased: f.value(i32x4.sub(rounded, f32x4.const(roundingBase))) };
}

/** 1 / (1 + exp(-x)). Error below 3 units in the last place above -87; below, it ends at 1.6e-38 instead of falling on. */
export function sigmoid(f: FunctionBuilder, x: V128): Local<"v128"> {
  return f.value(f32x4.div(f32x4.const(1), f32x4.add(f32x4.const(1), clampedExp(f, f32x4.neg(x)))));
}
