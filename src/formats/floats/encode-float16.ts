/** The nearest float16 (IEEE 754 binary16, ties to even), as its bits; infinity from 65,520 on. */
export function encodeFloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65_520) return sign | 0x7c00;
  // Below 2^-14 numbers lie 2^-24 apart; above, 1,024 of them lie between two powers of two. A carry moves on to the next exponent.
  if (magnitude < 2 ** -14) return sign | roundToEven(magnitude * 2 ** 24);
  let exponent = Math.floor(Math.log2(magnitude));
  if (2 ** exponent > magnitude) exponent -= 1;
  return sign | (((exponent + 15) << 10) + roundToEven(magnitude * 2 ** (10 - exponent)) - 1024);
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
