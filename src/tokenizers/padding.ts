/** Brings encodings to one length. */
import type { Encoding } from "./tokenizer.ts";

export interface PadOptions {
  /** Length of every row; longer rows stay as they are. Default: the longest row. */
  readonly length?: number;
  /** The length is rounded up to a multiple of this. Default: 1. */
  readonly multipleOf?: number;
  /** The side the padding is put on. Default: "right". */
  readonly side?: "left" | "right";
  /** Type id of padding. Default: 0. */
  readonly typeId?: number;
}

/** One row per encoding. */
export interface PaddedBatch {
  readonly ids: number[][];
  readonly typeIds: number[][];
  /** 1 for a token, 0 for padding. */
  readonly attentionMask: number[][];
}

export function padEncodings(encodings: readonly Encoding[], padId: number, options: PadOptions = {}): PaddedBatch {
  const { multipleOf = 1, side = "right", typeId = 0 } = options;
  const longest = options.length ?? encodings.reduce((most, { ids }) => Math.max(most, ids.length), 0);
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
