/** The sizes that programs of a decoder are compiled for: with many sizes little is padded, with few sizes little is compiled. */

/** The sizes of one engine. */
export interface DecoderSizes {
  /** Capacity of the smallest cache in tokens. Larger capacities are a power of two times it. */
  readonly minCapacity: number;
  /** From this capacity on there is one more halfway between two powers of two. */
  readonly minHalfStep: number;
  /** A step moves a sequence to a smaller cache if its own has at least this many times the capacity that it needs; 1: always to the smallest. */
  readonly minShrunkFactor: number;
  /** Numbers of new tokens besides 1 of one sequence, largest first. */
  readonly chunks: readonly number[];
  /** Numbers of sequences of one run, in ascending order. */
  readonly batches: readonly number[];
  /**
   * Number of new tokens of the runs without unused positions that programs are verified against: 1 (two tokens in two programs) or 2 (both in one
   * program).
   */
  readonly referenceTokens: 1 | 2;
}

/** Sizes of engines that compile in milliseconds. From 16 tokens on matrix products reach their full speed. */
export const fineSizes: DecoderSizes = {
  minCapacity: 64,
  minHalfStep: 256,
  minShrunkFactor: 1,
  chunks: [128, 16],
  batches: [1, 2, 4, 8, 16],
  referenceTokens: 1,
};

/** Sizes of engines that compile in seconds: a chat of 200 tokens takes three programs. */
export const coarseSizes: DecoderSizes = {
  minCapacity: 256,
  minHalfStep: Number.POSITIVE_INFINITY,
  minShrunkFactor: 4,
  chunks: [64],
  batches: [1, 4, 8, 16],
  referenceTokens: 2,
};

/** The smallest capacity of at least this many tokens; with `fineSizes` one of 64, 128, 256, 384, 512, 768, 1024, 1536, ... */
export function capacityFor(tokens: number, { minCapacity, minHalfStep }: DecoderSizes): number {
  let capacity = minCapacity;
  while (capacity < tokens) capacity *= 2;
  const between = (capacity * 3) / 4;
  return between >= tokens && between > minHalfStep ? between : capacity;
}

/** The capacities of the caches that a sequence has while it grows to `tokens` tokens, in ascending order. */
export function cacheCapacities(tokens: number, sizes: DecoderSizes): readonly number[] {
  const capacities = [capacityFor(1, sizes)];
  for (let last = sizes.minCapacity; last < tokens;) {
    last = capacityFor(last + 1, sizes);
    capacities.push(last);
  }
  return capacities;
}

/** The number of sequences of the smallest program that decodes this many, at most as many as the largest program has. */
export function batchFor(sequences: number, { batches }: DecoderSizes): number {
  return batches.find((each) => each >= sequences) ?? sequences;
}
