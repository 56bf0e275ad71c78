/** Normalizers that map every character independently, or change the ends of a text. */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { AlignedRewriter } from "../alignment/rewriter.ts";
import { characterOfByte, writeUtf8 } from "../unicode/byte-level-alphabet.ts";
import { isWhitespace } from "../unicode/character-properties.ts";
import { CharacterSet } from "../unicode/character-set.ts";

/**
 * Replaces every code point of a text by `map(point)`; undefined keeps it, "" removes it. Returns `source` itself if nothing
 * changes.
 */
export function mapCharacters(source: AlignedText, map: (point: number) => string | undefined): AlignedText {
  const { text } = source;
  let rewriter: AlignedRewriter | undefined;
  let kept = 0;
  for (let unit = 0; unit < text.length;) {
    const length = characterLength(text, unit);
    const point = length === 1 ? text.charCodeAt(unit) : (text.codePointAt(unit) ?? 0);
    const written = map(point);
    if (written !== undefined) {
      rewriter ??= new AlignedRewriter(source);
      rewriter.keep(kept, unit);
      rewriter.replace(written, unit, unit + length);
      kept = unit + length;
    }
    unit += length;
  }
  if (rewriter === undefined) return source;
  rewriter.keep(kept, text.length);
  return rewriter.finish();
}

/**
 * Normalizer `ByteLevel`: writes the UTF-8 bytes of a text in GPT-2's alphabet of 256 characters. Every byte is aligned to its
 * whole character.
 */
export function byteLevelNormalizer(source: AlignedText): AlignedText {
  const bytes = new Uint8Array(4);
  return mapCharacters(source, (point) => {
    const length = writeUtf8(point, bytes);
    let written = "";
    for (let index = 0; index < length; index++) written += characterOfByte[bytes[index] ?? 0];
    return written;
  });
}

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

const removedByNmt = new CharacterSet([
  [0x01, 0x08],
  [0x0b, 0x0b],
  [0x0e, 0x1f],
  [0x7f, 0x7f],
  [0x8f, 0x8f],
  [0x9f, 0x9f],
]);
const spacedByNmt = new CharacterSet([
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
  return mapCharacters(source, (point) => (removedByNmt.has(point) ? "" : spacedByNmt.has(point) ? " " : undefined));
}

/** Normalizer `Strip`: removes white space at the start (`left`) and the end (`right`). */
export function stripWhitespace(source: AlignedText, left: boolean, right: boolean): AlignedText {
  const { text } = source;
  let [from, to] = [0, text.length];
  if (left) while (from < to && isWhitespace(text.charCodeAt(from))) from++;
  if (right) while (to > from && isWhitespace(text.charCodeAt(to - 1))) to--;
  if (from === 0 && to === text.length) return source;
  const rewriter = new AlignedRewriter(source, to - from);
  rewriter.keep(from, to);
  return rewriter.finish();
}

/** Normalizer `Prepend`: inserts a text at the start, aligned to the first character. An empty text is not changed. */
export function prependText(source: AlignedText, content: string): AlignedText {
  const { text } = source;
  if (text === "" || content === "") return source;
  const rewriter = new AlignedRewriter(source, text.length + 16);
  rewriter.replace(content, 0, characterLength(text, 0));
  rewriter.keep(0, text.length);
  return rewriter.finish();
}
