/**
 * Conversion between float16 (IEEE 754 binary16) in memory and float32 in registers. Widening is exact; narrowing rounds to nearest, half to even, and
 * overflows to infinity.
 */
import type { V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../../assembler/vector.ts";

/** Fraction bits of float32 (23) minus the fraction bits of float16 (10). */
const extraFractionBits = 13;
const signBit = 0x8000;
const infinity = 0x7c00;
/** Bits of 65520 as float32: the smallest magnitude that rounds to infinity. */
const firstTooLarge = 0x477ff000;
/** Bits of 2^-14 as float32: the smallest normal float16. */
const smallestNormal = 0x38800000;

/** Converts float16 bit patterns in 32-bit lanes to float32. */
export function float16ToFloat32(f: FunctionBuilder, lanes: V128): V128 {
  const bits = f.value(lanes);
  const size = f.value(v128.and(bits, i32x4.const(0x7fff)));
  const moved = f.value(i32x4.shl(size, i32.const(extraFractionBits)));
  // The exponent bias of float16 is 112 less than float32's. Multiplying by 2^112 corrects it, for subnormal numbers as well.
  const scaled = f32x4.mul(moved, f32x4.const(2 ** 112));
  const special = v128.or(moved, i32x4.const(0x7f800000));
  const magnitude = v128.bitselect(special, scaled, i32x4.geS(size, i32x4.const(infinity)));
  const sign = i32x4.shl(v128.and(bits, i32x4.const(signBit)), i32.const(16));
  return v128.or(magnitude, sign);
}

/** Converts float32 to float16 bit patterns in the low half of each lane. */
export function float32ToFloat16(f: FunctionBuilder, value: V128): V128 {
  const bits = f.value(value);
  const size = f.value(v128.and(bits, i32x4.const(0x7fffffff)));
  const half = f32x4.const(0.5);
  // The last fraction bit of the float32 0.5 is 2^-24, the smallest float16. Adding 0.5 therefore rounds to a multiple of it.
  const subnormal = i32x4.sub(f32x4.add(size, half), half);
  const isOdd = v128.and(i32x4.shrU(size, i32.const(extraFractionBits)), i32x4.const(1));
  const rounded = i32x4.add(i32x4.add(size, i32x4.const(0xfff)), isOdd);
  const normal = i32x4.shrU(i32x4.sub(rounded, i32x4.const(112 << 23)), i32.const(extraFractionBits));
  const finite = v128.bitselect(subnormal, normal, i32x4.ltS(size, i32x4.const(smallestNormal)));
  const endless = v128.bitselect(i32x4.const(0x7e00), i32x4.const(infinity), i32x4.gtS(size, i32x4.const(0x7f800000)));
  const magnitude = v128.bitselect(endless, finite, i32x4.geS(size, i32x4.const(firstTooLarge)));
  const sign = v128.and(i32x4.shrU(bits, i32.const(16)), i32x4.const(signBit));
  return v128.or(magnitude, sign);
}
