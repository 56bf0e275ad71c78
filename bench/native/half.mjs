// Half precision (IEEE 754 binary16) as its bits: Node.js 20 has no typed array for it.

// Cut off, not rounded; what is too small for a normal number becomes zero.
export function halfBits(value) {
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  if (!(exponent >= -14)) return 0;
  const fraction = Math.floor((Math.abs(value) / 2 ** exponent - 1) * 1024);
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction;
}

export function halfValue(bits) {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return (bits & 0x8000 ? -1 : 1) * (exponent === 31 ? (fraction === 0 ? Infinity : NaN) : size);
}
