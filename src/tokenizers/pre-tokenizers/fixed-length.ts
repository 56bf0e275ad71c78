/** FixedLength: pieces of so many characters each. */
import { characterLength } from "../alignment/aligned-text.ts";
import type { PreTokenizer } from "./pre-tokenizer.ts";

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
