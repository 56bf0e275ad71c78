/** Normalizer `Lowercase`. Characters are mapped independently, as in the Rust library: a final Σ becomes σ, not ς. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { mapCharacters } from "./map-characters.ts";

/** Characters whose lower case depends on the context (Σ) or is longer than they are (İ). */
const special = /[\u03a3\u0130]/;

/** Normalizer `Lowercase`: lowercases each character on its own, as the Rust library does: a final Σ becomes σ, not ς. */
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
