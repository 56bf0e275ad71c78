/**
 * Smooth inverse frequency weighting (Arora, Liang and Ma 2017): frequent tokens carry little meaning and get a smaller weight, a / (a + p). As in model2vec, the
 * probability p of a token is estimated from its rank by Zipf's law, since tokenizers order their vocabulary by frequency.
 */

/** The constant a of smooth inverse frequency weighting (Arora et al. 2017), with the value of model2vec. */
export const sifCoefficient = 1e-4;

/**
 * Smooth inverse frequency weights of `count` tokens, the most frequent first. The probability of the token of rank r is taken as
 * proportional to 1 / (r + 2).
 */
export function frequencyWeights(count: number, coefficient: number = sifCoefficient): Float64Array {
  const shares = Float64Array.from({ length: count }, (_, rank) => 1 / (rank + 2));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => coefficient / (coefficient + share / total));
}
