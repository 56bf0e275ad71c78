/** A text split into pieces, the counterpart of `PreTokenizedString` in the Rust library. */
import type { AlignedText } from "./aligned-text.ts";

/** A text split into pieces by pre-tokenizers; the model tokenizes each separately. */
export interface Pieces {
  readonly source: AlignedText;
  /** Ranges of the source in UTF-16 code units, flattened: start, end, start, end, ... Ascending, none empty. */
  readonly bounds: readonly number[];
}

/** Transforms a text before pre-tokenization (trait `Normalizer` of the Rust library). Throws Error beyond the growth limit. */
export type Normalizer = (text: AlignedText) => AlignedText;

/** Splits the pieces of a text further (trait `PreTokenizer` of the Rust library). */
export type PreTokenizer = (pieces: Pieces) => Pieces;

/** Splits every piece. `cut` adds the bounds of what stays of the piece [start, end) to `cuts`. */
export function cutPieces(
  { source, bounds }: Pieces,
  cut: (text: string, start: number, end: number, cuts: number[]) => void,
): Pieces {
  const cuts: number[] = [];
  for (let index = 0; index < bounds.length; index += 2)
    cut(source.text, bounds[index] as number, bounds[index + 1] as number, cuts);
  return { source, bounds: cuts };
}
