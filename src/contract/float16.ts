/** IEEE 754 binary16 numbers as their 16 bits: Node.js 20 has no typed array of them. */
import { decodeFloat, encodeFloat } from "./small-floats.ts";

/**
 * The float32 value of each of the 65,536 float16 bit patterns, for decoding by table look-up. A new table of 256 KiB is computed
 * by each call, so callers keep it.
 */
export function float16Table(): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_value, bits) => decodeFloat16(bits));
}

/**
 * The value of an IEEE 754 binary16 bit pattern: 1 sign bit, 5 exponent bits with bias 15, 10 fraction bits. `bits` is an integer
 * from 0 to 65,535; infinities, NaN and subnormal numbers are decoded.
 */
export function decodeFloat16(bits: number): number {
  return decodeFloat("float16", bits);
}

/**
 * The IEEE 754 binary16 bit pattern of the nearest number, ties to even. Magnitudes of 65,520 and more become infinity; NaN stays
 * NaN.
 */
export function encodeFloat16(value: number): number {
  return encodeFloat("float16", value, false);
}
