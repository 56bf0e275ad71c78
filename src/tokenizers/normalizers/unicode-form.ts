/** Normalizers `NFC`, `NFD`, `NFKC` and `NFKD` with alignment, as the crate unicode-normalization-alignments of the Rust library computes it. */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { CombiningClasses } from "../unicode/combining-class.ts";
import { AlignedRewriter } from "../alignment/rewriter.ts";
import { type CharacterChange, transform } from "../alignment/transform.ts";
import { withoutDecomposition } from "../unicode/unicode-tables.ts";

/** A Unicode normalization form (UAX #15). */
export type UnicodeForm = "NFC" | "NFD" | "NFKC" | "NFKD";

/** A long run of marks, for which `String.normalize` is avoided: ICU sorts marks by insertion, in quadratic time. */
const manyMarks = /\p{M}{100}/u;
const notAscii = /[^\0-\x7f]/;

/** Creates the normalizer of a Unicode normalization form. */
export function unicodeForm(form: UnicodeForm): (source: AlignedText) => AlignedText {
  const compatible = form === "NFKC" || form === "NFKD" ? "NFKD" : "NFD";
  const composes = form === "NFC" || form === "NFKC";
  const ranks = new CombiningClasses();
  return (source) => {
    const { text } = source;
    if (!notAscii.test(text) || (!manyMarks.test(text) && text.normalize(form) === text && !withoutDecomposition.anyIn(text)))
      return source;
    const rewriter = new AlignedRewriter(source);
    let kept = 0;
    for (const [from, to] of beyondAscii(text)) {
      rewriter.keep(kept, from);
      const decomposed = decompose(text.slice(from, to), compatible, ranks);
      transform(source, from, to, composes ? compose(decomposed, ranks) : decomposed, rewriter);
      kept = to;
    }
    rewriter.keep(kept, text.length);
    return rewriter.finish();
  };
}

/**
 * The ranges of a text outside ASCII, each with the character before it, to which combining marks may belong. Ranges are [from,
 * to) in UTF-16 code units.
 */
export function beyondAscii(text: string): [from: number, to: number][] {
  const parts: [number, number][] = [];
  for (let unit = 0; unit < text.length; unit++) {
    if (text.charCodeAt(unit) < 0x80) continue;
    const from = Math.max(0, unit - 1);
    while (unit < text.length && text.charCodeAt(unit) >= 0x80) unit++;
    parts.push([from, unit]);
  }
  return parts;
}

/** Decomposes a text (UAX #15), with marks in canonical order. */
function decompose(text: string, form: "NFD" | "NFKD", ranks: CombiningClasses): CharacterChange[] {
  const result: CharacterChange[] = [];
  /** Marks since the last starter. */
  let pending: { readonly changed: CharacterChange; readonly rank: number }[] = [];
  const settle = (): void => {
    for (const { changed } of pending.toSorted((a, b) => a.rank - b.rank)) result.push(changed);
    pending = [];
  };
  for (let unit = 0; unit < text.length;) {
    const length = characterLength(text, unit);
    const character = text.slice(unit, unit + length);
    unit += length;
    const parts = withoutDecomposition.has(character.codePointAt(0) ?? 0) ? character : character.normalize(form);
    let change = 0;
    for (const part of parts) {
      const rank = ranks.of(part);
      const changed = { character: part, change };
      if (rank === 0) {
        settle();
        result.push(changed);
      } else pending.push({ changed, rank });
      change = 1;
    }
  }
  settle();
  return result;
}

/** Canonical composition (UAX #15) of a decomposed text. A composed character replaces all of its parts. */
function compose(decomposed: readonly CharacterChange[], ranks: CombiningClasses): CharacterChange[] {
  const result: CharacterChange[] = [];
  let starter: CharacterChange | undefined;
  /** Marks after the starter that do not compose with it. */
  let marks: CharacterChange[] = [];
  let lastRank: number | undefined;
  for (const changed of decomposed) {
    const rank = ranks.of(changed.character);
    if (starter === undefined) {
      if (rank === 0) starter = changed;
      else result.push(changed);
      continue;
    }
    const blocked = lastRank !== undefined && lastRank >= rank;
    const together = blocked ? undefined : getPair(starter.character, changed.character);
    if (together !== undefined) {
      starter = { character: together, change: starter.change + changed.change - 1 };
    } else if (rank === 0) {
      result.push(starter);
      for (const mark of marks) result.push(mark);
      [starter, marks, lastRank] = [changed, [], undefined];
    } else {
      marks.push(changed);
      lastRank = rank;
    }
  }
  if (starter !== undefined) result.push(starter);
  for (const mark of marks) result.push(mark);
  return result;
}

/** The primary composite of two characters; undefined if there is none. */
function getPair(first: string, second: string): string | undefined {
  const together = (first + second).normalize("NFC");
  if (together.length !== characterLength(together, 0)) return undefined;
  return withoutDecomposition.has(together.codePointAt(0) ?? 0) ? undefined : together;
}
