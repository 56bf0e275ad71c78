/** Lowercase, one character at a time as the Rust library does it: a Σ at the end of a word becomes σ like any other. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { mapCharacters } from "./map-characters.ts";

/** The characters whose lower case depends on their neighbours (Σ) or is longer than they are (İ). */
const special = /[\u03a3\u0130]/;

export function lowercase(source: AlignedText): AlignedText {
  const { text } = source;
  if (!special.test(text)) {
    const lower = text.toLowerCase();
    if (lower.length === text.length) return source.withText(lower);
  }
  return mapCharacters(source, (point) => {
    const character = String.fromCodePoint(point);
    const lower = character.toLowerCase();
    return lower === character ? undefined : lower;
  });
}
