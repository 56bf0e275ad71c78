/** A text cut into pieces. */
import type { AlignedText } from "./aligned-text.ts";

export interface Pieces {
  readonly source: AlignedText;
  /** Units of the source, flattened: start and end of each piece. No piece is empty, and they are in order. */
  readonly bounds: readonly number[];
}
