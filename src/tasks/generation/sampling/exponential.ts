/**
 * The exponential function in operations that IEEE 754 defines to the bit, so that the same seed gives the same text with every JavaScript engine on every
 * machine. `Math.exp` may differ between engines.
 */

const highLn2 = 0.69314718036912381649;
const lowLn2 = 1.90821492927058770002e-10;

/** e to the power of x, for x up to 0. The error is at most one unit in the last place or so. */
export function exponential(x: number): number {
  if (x < -745) return 0;
  const power = Math.round(x / Math.LN2);
  const rest = x - power * highLn2 - power * lowLn2; // at most ln(2) / 2
  let sum = 1;
  for (let order = 14; order > 0; order -= 1) sum = 1 + (rest * sum) / order; // Taylor's series
  return power < -1000 ? sum * 2 ** (power + 100) * 2 ** -100 : sum * 2 ** power;
}
