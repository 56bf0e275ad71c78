/** A text split into pieces, the counterpart of `PreTokenizedString` in the Rust library. */
import type { AlignedText } from "./aligned-text.ts";

/** The pieces of a text. */
export interface Pieces {
  readonly source: AlignedText;
  /** Ranges of the source in UTF-16 code units, flattened: start, end, start, end, ... Ascending, none empty. */
  readonly bounds: readonly number[];
}
