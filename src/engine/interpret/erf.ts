/**
 * The error function erf to about double precision: below 2.5 by its series, from there on by the continued fraction of erfc (Abramowitz and Stegun,
 * 7.1.6 and 7.1.14).
 */
export function erf(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  const magnitude = Math.abs(x);
  if (magnitude > 6) return Math.sign(x);
  return magnitude < 2.5 ? series(x) : Math.sign(x) * (1 - complement(magnitude));
}

function series(x: number): number {
  let term = x;
  let sum = x;
  for (let index = 1; Math.abs(term) > 1e-17 * Math.abs(sum); index += 1) {
    term *= (2 * x * x) / (2 * index + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc by its continued fraction, evaluated backwards from 60 terms. */
function complement(x: number): number {
  let fraction = x;
  for (let index = 60; index >= 1; index -= 1) fraction = x + index / 2 / fraction;
  return Math.exp(-x * x) / (fraction * Math.sqrt(Math.PI));
}
