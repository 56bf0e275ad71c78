import type { AlignedText } from "../alignment/aligned-text.ts";

/** A change of a text before it is cut into pieces. */
export type Normalizer = (text: AlignedText) => AlignedText;
