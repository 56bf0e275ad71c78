/** sin and cos on four float32 lanes. The argument is reduced by multiples of pi/2 in float64, two lanes at a time. */
import type { Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, f64x2, i32x4, shuffle32, v128 } from "../assembler/vector.ts";
import { polynomial } from "./polynomial.ts";

/** pi/2 in two parts, the first with 33 bits, so that multiples up to 2^20 are exact. */
const halfPiHigh = 1.5707963267341256;
const halfPiLow = 6.077100506506192e-11;
/** sin(r) = r + r^3 S(r^2), cos(r) = 1 - r^2/2 + r^4 C(r^2), for |r| up to pi/4; relative error below 2^-37 and 2^-33. */
const sine = [-0.1666666716337204, 0.008333329111337662, -0.0001983930415008217, 2.7180467441212386e-6];
const cosine = [0.04166664555668831, -0.0013887309469282627, 2.4432411009911448e-5];

/** sin(x) of four float32 lanes, x in radians. Error below 1.5 units in the last place for |x| up to 1e6, absolute error below 1e-7 up to 1e9. */
export function sin(f: FunctionBuilder, x: V128): Local<"v128"> {
  return quarterWave(f, x, 0);
}

/** cos(x) of four float32 lanes, x in radians, with the same error as `sin`. */
export function cos(f: FunctionBuilder, x: V128): Local<"v128"> {
  return quarterWave(f, x, 1);
}

/** sin(x + ahead * pi/2): sin for 0, cos for 1. */
function quarterWave(f: FunctionBuilder, x: V128, ahead: 0 | 1): Local<"v128"> {
  const given = f.value(x);
  const low = reduced(f, given);
  const high = reduced(f, shuffle32(given, given, [2, 3, 2, 3]));
  const rest = f.value(shuffle32(low.rest, high.rest, [0, 1, 4, 5]));
  const quarter = f.value(i32x4.add(shuffle32(low.quarter, high.quarter, [0, 1, 4, 5]), i32x4.const(ahead)));
  const square = f.value(f32x4.mul(rest, rest));
  const odd = f.value(f.madd(f32x4.mul(rest, square), polynomial(f, square, sine), rest));
  const even = f.value(f.madd(square, f.madd(square, polynomial(f, square, cosine), f32x4.const(-0.5)), f32x4.const(1)));
  const isEven = i32x4.shrS(i32x4.shl(quarter, i32.const(31)), i32.const(31));
  const sign = i32x4.shl(i32x4.shrU(quarter, i32.const(1)), i32.const(31));
  return f.value(v128.xor(v128.bitselect(even, odd, isEven), sign));
}

/** The range reduction x = n pi/2 + r of the two low lanes: returns r as `rest` and n as `quarter`. */
function reduced(f: FunctionBuilder, x: V128): { readonly rest: Local<"v128">; readonly quarter: Local<"v128"> } {
  const value = f.value(f64x2.promoteLowF32x4(x));
  const n = f.value(f64x2.nearest(f64x2.mul(value, f64x2.const(2 / Math.PI))));
  const rest = f64x2.sub(f64x2.sub(value, f64x2.mul(n, f64x2.const(halfPiHigh))), f64x2.mul(n, f64x2.const(halfPiLow)));
  return { rest: f.value(f32x4.demoteF64x2Zero(rest)), quarter: f.value(i32x4.truncSatF64x2SZero(n)) };
}
