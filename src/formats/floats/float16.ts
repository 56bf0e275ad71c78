/** 16-bit floating point (IEEE 754 binary16): Node.js 20 has no typed array for it. */

/** The value of every one of the 65,536 bit patterns, so that converting is one look-up (256 KB). */
export function halfTable(): Float32Array {
  const table = new Float32Array(65_536);
  for (let bits = 0; bits < table.length; bits++) table[bits] = halfValue(bits);
  return table;
}

/** The value of 16 bits: 1 sign, 5 exponent (bias 15), 10 fraction. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
