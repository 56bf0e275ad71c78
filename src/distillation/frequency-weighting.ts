/**
 * Frequent tokens say little, so they count less. Smooth inverse frequency (Arora, Liang and Ma, 2017): a / (a + p), with the
 * probability p of a token guessed by Zipf's law from its rank, since tokenizers list their vocabulary by frequency. model2vec
 * does the same.
 */

/** The constant a of the paper, as model2vec sets it. */
export const sifCoefficient = 1e-4;

/** Weights of tokens in order of falling frequency: the first is the most frequent. Rank r has probability proportional to 1 / (r + 2). */
export function frequencyWeights(count: number, coefficient: number = sifCoefficient): Float64Array {
  const shares = Float64Array.from({ length: count }, (_, rank) => 1 / (rank + 2));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => coefficient / (coefficient + share / total));
}
