/** Cuts pieces at what a pattern finds. */
import { type Pattern, type SplitBehavior, splitAtMatches } from "../pattern.ts";
import type { PreTokenizer } from "./pre-tokenizer.ts";

/** The pattern sees one piece at a time, and nothing beyond it. */
export function splitBy(pattern: Pattern, behavior: SplitBehavior, invert: boolean): PreTokenizer {
  return ({ source, bounds }) => {
    const { text } = source;
    const cutBounds: number[] = [];
    for (let index = 0; index < bounds.length; index += 2) {
      const start = bounds[index] as number;
      const end = bounds[index + 1] as number;
      const piece = text.slice(start, end);
      splitAtMatches(pattern(piece), piece.length, behavior, invert, start, cutBounds);
    }
    return { source, bounds: cutBounds };
  };
}
