import type { AlignedText } from "../aligned-text.ts";

/** A change of a text before it is cut into pieces. */
export type Normalizer = (text: AlignedText) => AlignedText;
