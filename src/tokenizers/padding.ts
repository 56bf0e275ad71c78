/** Padding (`pad_encodings` of the Rust library). */
import type { Encoding, PadOptions, PaddedBatch } from "./tokenizer.ts";

/** Pads encodings with `padId` to one length: the longest one's, or the one in the options, rounded up to `multipleOf`. Longer rows are not cut. */
export function padEncodings(encodings: readonly Encoding[], padId: number, options: PadOptions = {}): PaddedBatch {
  const { multipleOf = 1, side = "right", typeId = 0 } = options;
  const longest = options.length ?? encodings.reduce((longestSoFar, { ids }) => Math.max(longestSoFar, ids.length), 0);
  const length = Math.ceil(longest / multipleOf) * multipleOf;
  const padded = (row: readonly number[], value: number): number[] => {
    const padding = Array.from({ length: Math.max(0, length - row.length) }, () => value);
    return side === "left" ? [...padding, ...row] : [...row, ...padding];
  };
  return {
    ids: encodings.map(({ ids }) => padded(ids, padId)),
    typeIds: encodings.map(({ typeIds }) => padded(typeIds, typeId)),
    attentionMask: encodings.map(({ attentionMask }) => padded(attentionMask, 0)),
  };
}
