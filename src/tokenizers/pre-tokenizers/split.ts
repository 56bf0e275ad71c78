/** Pre-tokenizers that split by a pattern (Split, Punctuation, Digits, Whitespace, WhitespaceSplit, CharDelimiterSplit) or by length (FixedLength). */
import { characterLength } from "../alignment/aligned-text.ts";
import { type PreTokenizer, cutPieces } from "../alignment/pieces.ts";
import { type Pattern, type SplitBehavior, splitAtMatches } from "../pattern.ts";

/** Creates a pre-tokenizer that splits every piece at the matches of a pattern, which is applied to each piece separately. */
export function splitBy(pattern: Pattern, behavior: SplitBehavior, invert: boolean): PreTokenizer {
  return (pieces) =>
    cutPieces(pieces, (text, start, end, cuts) => {
      const piece = text.slice(start, end);
      splitAtMatches(pattern(piece), piece.length, behavior, invert, start, cuts);
    });
}

/**
 * Creates the pre-tokenizer `FixedLength`. `characters` is the number of code points per piece, at least 1; the last piece may be
 * shorter.
 */
export function fixedLengthPreTokenizer(characters: number): PreTokenizer {
  if (characters < 1) throw new Error('FixedLength needs "length" to be at least 1');
  return (pieces) =>
    cutPieces(pieces, (text, from, end, cuts) => {
      for (let unit = from; unit < end;) {
        const start = unit;
        for (let count = 0; count < characters && unit < end; count++) unit += characterLength(text, unit);
        cuts.push(start, unit);
      }
    });
}
