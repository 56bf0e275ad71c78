/** Pre-tokenizer `FixedLength`: splits into pieces of a fixed number of characters. */
import { characterLength } from "../alignment/aligned-text.ts";
import type { PreTokenizer } from "./pre-tokenizer.ts";

/**
 * Creates the pre-tokenizer `FixedLength`. `characters` is the number of code points per piece, at least 1; the last piece may be
 * shorter.
 */
export function fixedLengthPreTokenizer(characters: number): PreTokenizer {
  if (characters < 1) throw new Error('FixedLength needs "length" to be at least 1');
  return ({ source, bounds }) => {
    const cutBounds: number[] = [];
    for (let index = 0; index < bounds.length; index += 2) {
      const end = bounds[index + 1] as number;
      for (let unit = bounds[index] as number; unit < end;) {
        const start = unit;
        for (let count = 0; count < characters && unit < end; count++) unit += characterLength(source.text, unit);
        cutBounds.push(start, unit);
      }
    }
    return { source, bounds: cutBounds };
  };
}
