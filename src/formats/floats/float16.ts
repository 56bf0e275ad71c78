/** IEEE 754 binary16 numbers as their 16 bits: Node.js 20 has no typed array of them. */
import { decodeFloat, encodeFloat } from "./small-floats.ts";

/** The value of every one of the 65,536 bit patterns, for conversion by look-up. Takes 256 KB; the caller keeps it. */
export function float16Table(): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_value, bits) => decodeFloat16(bits));
}

/** The value of 16 bits: 1 sign bit, 5 exponent bits with bias 15, 10 fraction bits. */
export function decodeFloat16(bits: number): number {
  return decodeFloat("float16", bits);
}

/** The bits of the nearest float16; ties go to the even one, and magnitudes of 65,520 and more become infinity. */
export function encodeFloat16(value: number): number {
  return encodeFloat("float16", value, false);
}
