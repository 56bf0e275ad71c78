/** Rounding as C's default mode and NumPy's `round` have it. */

/** The nearest integer, the even one of two that are equally near. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** `first * second + added` in float32, rounded once, as a fused multiply-add does. */
export function fusedMultiplyAdd(first: number, second: number, added: number): number {
  return Math.fround(first * second + added); // the product of two float32 is exact in float64
}
