/** Normalizer `Nmt`: removes control characters and replaces space-like characters by a space, by the lists of the Rust library. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { CharacterSet } from "../unicode/character-set.ts";
import { mapCharacters } from "./map-characters.ts";

const removed = new CharacterSet([
  [0x01, 0x08],
  [0x0b, 0x0b],
  [0x0e, 0x1f],
  [0x7f, 0x7f],
  [0x8f, 0x8f],
  [0x9f, 0x9f],
]);
const spaced = new CharacterSet([
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x1680, 0x1680],
  [0x200b, 0x200f],
  [0x2028, 0x2029],
  [0x2581, 0x2581],
  [0xfeff, 0xfeff],
  [0xfffd, 0xfffd],
]);

/**
 * Normalizer `Nmt`: removes control characters and replaces space-like characters by a space, by the lists of the Rust library.
 */
export function nmtNormalizer(source: AlignedText): AlignedText {
  return mapCharacters(source, (point) => (removed.has(point) ? "" : spaced.has(point) ? " " : undefined));
}
