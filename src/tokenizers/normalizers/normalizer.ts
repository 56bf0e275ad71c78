import type { AlignedText } from "../alignment/aligned-text.ts";

/** Transforms a text before pre-tokenization (trait `Normalizer` of the Rust library). Throws Error beyond the growth limit. */
export type Normalizer = (text: AlignedText) => AlignedText;
