/** Pre-tokenizers that split by a pattern: Split, Punctuation, Digits, Whitespace, WhitespaceSplit, CharDelimiterSplit. */
import { type Pattern, type SplitBehavior, splitAtMatches } from "../pattern.ts";
import type { PreTokenizer } from "./pre-tokenizer.ts";

/** Creates a pre-tokenizer that splits every piece at the matches of a pattern, which is applied to each piece separately. */
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
