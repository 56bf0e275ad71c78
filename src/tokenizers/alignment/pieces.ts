/** A text split into pieces, the counterpart of `PreTokenizedString` in the Rust library. */
import type { AlignedText } from "./aligned-text.ts";

/** A text split into pieces by pre-tokenizers; the model tokenizes each separately. */
export interface Pieces {
  readonly source: AlignedText;
  /** Ranges of the source in UTF-16 code units, flattened: start, end, start, end, ... Ascending, none empty. */
  readonly bounds: readonly number[];
}
