/** Pre-tokenizer `BertPreTokenizer`: splits at white space, and makes every punctuation character a piece. */
import { characterLength } from "../alignment/aligned-text.ts";
import { isWhitespace } from "../unicode/character-properties.ts";
import { type Pieces, cutPieces } from "../alignment/pieces.ts";
import { punctuation } from "../unicode/unicode-tables.ts";

/** Character classes: part of a word, white space (removed), punctuation (a piece of its own). `ascii`: class of each ASCII character. */
const inWord = 0;
const between = 1;
const alone = 2;
const ascii = Uint8Array.from({ length: 128 }, (_kind, point) => getKind(point));

/** Pre-tokenizer `BertPreTokenizer`: splits every piece at white space and around each punctuation character. */
export function bertPreTokenizer(pieces: Pieces): Pieces {
  return cutPieces(pieces, (text, from, end, cuts) => {
    let start = from;
    for (let unit = start; unit < end;) {
      const code = text.charCodeAt(unit);
      let length = 1;
      let kind: number;
      if (code < 0x80) kind = ascii[code] as number;
      else {
        length = characterLength(text, unit);
        kind = getKind(length === 1 ? code : (text.codePointAt(unit) ?? 0));
      }
      if (kind !== inWord) {
        if (start < unit) cuts.push(start, unit);
        start = unit + length;
        if (kind === alone) cuts.push(unit, start);
      }
      unit += length;
    }
    if (start < end) cuts.push(start, end);
  });
}

function getKind(point: number): number {
  return isWhitespace(point) ? between : punctuation.has(point) ? alone : inWord;
}
