/** Output of the structure analysis of a text: where it may be split, with which priority, and which blocks to keep whole. */

/** Priorities of breaks. Of two possible breaks the one with the higher priority is taken. */
export const breakPriorities: Readonly<Record<"inside" | "segment" | "separators" | "heading" | "forced", number>> = {
  /** Between a word and the space after it, or inside a word. */
  inside: 0,
  /** Between words without a space, as in Chinese. */
  segment: 1,
  /** The least preferred separator; the others follow in steps of 1. */
  separators: 2,
  /** A Markdown heading of level 6; level 5 has one more, up to level 1. Above all separators. Lines of code are above it. */
  heading: 10,
  /** A break that must be taken. */
  forced: Number.POSITIVE_INFINITY,
};

/** A position where a text may be split with a higher priority than between words. */
export interface BreakOpportunity {
  /** UTF-16 code units from the start of the text. */
  readonly position: number;
  readonly priority: number;
}

/** The positions at which a text may be split into chunks, with their priority. */
export interface TextStructure {
  /** By ascending position, each position once. */
  readonly breaks: readonly BreakOpportunity[];
  /** Priority of a break before a word. */
  readonly wordPriority: number;
  /** Ranges [start, end) that are split only if they do not fit into one chunk, by ascending start. */
  readonly blocks: readonly (readonly [number, number])[];
}
