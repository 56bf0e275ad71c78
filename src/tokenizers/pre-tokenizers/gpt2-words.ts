/**
 * GPT-2's regular expression, implemented by hand because byte-level tokenizers spend most of their time in it:
 * 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 */
import { characterLength } from "../alignment/aligned-text.ts";
import { isWhitespace } from "../unicode/character-properties.ts";
import { type Pieces, cutPieces } from "../alignment/pieces.ts";

const other = 0;
const letter = 1;
const numeral = 2;
const space = 3;
const ascii = Uint8Array.from({ length: 128 }, (_kind, point) => getSlowKind(point));

/** Splits every piece into the matches of GPT-2's regular expression, which cover it. */
export function splitLikeGpt2(pieces: Pieces): Pieces {
  return cutPieces(pieces, (text, start, end, cuts) => {
    for (let unit = start; unit < end;) {
      const next = wordEnd(text, unit, end);
      cuts.push(unit, next);
      unit = next;
    }
  });
}

function wordEnd(text: string, start: number, end: number): number {
  const first = text.charCodeAt(start);
  if (first === 0x27) {
    const suffix = suffixLength(text, start, end);
    if (suffix > 0) return start + suffix;
  }
  const opens = first === 0x20 && start + 1 < end && kindAt(text, start + 1) !== space ? start + 1 : start;
  const kind = kindAt(text, opens);
  if (kind !== space) return runEnd(text, opens, end, kind);
  const run = runEnd(text, start, end, space);
  // The last of several spaces belongs to the word after them.
  return run === end || run === start + 1 ? run : run - 1;
}

function runEnd(text: string, start: number, end: number, kind: number): number {
  let unit = start;
  while (unit < end) {
    const code = text.charCodeAt(unit);
    if (code < 0x80) {
      if (ascii[code] !== kind) break;
      unit++;
    } else {
      if (kindAt(text, unit) !== kind) break;
      unit += characterLength(text, unit);
    }
  }
  return unit;
}

/** Length of an English contraction suffix: 's, 't, 'm, 'd: 2; 're, 've, 'll: 3; anything else: 0. */
function suffixLength(text: string, start: number, end: number): number {
  if (start + 1 >= end) return 0;
  const one = text.charAt(start + 1);
  if (one === "s" || one === "t" || one === "m" || one === "d") return 2;
  if (start + 2 >= end) return 0;
  const two = text.charAt(start + 2);
  return (two === "e" && (one === "r" || one === "v")) || (one === "l" && two === "l") ? 3 : 0;
}

function kindAt(text: string, unit: number): number {
  const code = text.charCodeAt(unit);
  if (code < 0x80) return ascii[code] as number;
  return getSlowKind(characterLength(text, unit) === 2 ? (text.codePointAt(unit) ?? code) : code);
}

function getSlowKind(point: number): number {
  if (isWhitespace(point)) return space;
  const character = String.fromCodePoint(point);
  return /^\p{L}/u.test(character) ? letter : /^\p{N}/u.test(character) ? numeral : other;
}
