/** What a strategy says of a text: where it may be cut, how gladly, and what should stay in one piece. */

/** How glad a cut is. Between two cuts that are both possible the higher rank wins. */
export const breakPriorities: Readonly<Record<"inside" | "segment" | "separators" | "heading" | "forced", number>> = {
  /** Between a word and the space after it, or inside of a word. */
  inside: 0,
  /** Between words that no space parts, as in Chinese. */
  segment: 1,
  /** The lowest of the separators; the others follow upwards. */
  separators: 2,
  /** A heading of Markdown of level 6, above every separator; the others follow upwards, level 1 last. Lines of code lie above it, too. */
  heading: 10,
  /** Where a chunk must end. */
  forced: Number.POSITIVE_INFINITY,
};

/** A position where a cut is gladder than between words. */
export interface BreakOpportunity {
  /** UTF-16 units from the start of the text. */
  readonly position: number;
  readonly rank: number;
}

export interface TextStructure {
  /** In the order of their positions, each position once. */
  readonly marks: readonly BreakOpportunity[];
  /** Rank of a cut before a word. */
  readonly wordRank: number;
  /** Stretches that are cut only where they do not fit in one chunk: [start, end), in the order of their starts. */
  readonly blocks: readonly (readonly [number, number])[];
}
