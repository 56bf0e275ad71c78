/**
 * Normalizer `Precompiled`: SentencePiece's character map. Format (sentencepiece, src/normalizer.cc): length of a trie in bytes (uint32,
 * little-endian), the trie as uint32 units of a double array (https://github.com/s-yata/darts-clone), and the replacements, each terminated by a
 * zero byte. Keys are UTF-8: a whole grapheme if it is shorter than 6 bytes, otherwise single characters.
 */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { AlignedRewriter, characterStart } from "../alignment/rewriter.ts";
import { boundaries } from "../unicode/segmentation.ts";
import { booleanSetting, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import type { Normalizer } from "../alignment/pieces.ts";

/**
 * Creates the normalizer `Precompiled`, a character map in the binary format of SentencePiece. Throws Error if
 * `precompiled_charsmap` is not base64 of this format.
 */
export function precompiledNormalizer(step: ComponentConfig): Normalizer {
  const map = new CharacterMap(bytesOfMap(stringSetting(step, "precompiled_charsmap")));
  if (booleanSetting(step, "longest_match", false)) return (source) => replaceLongest(source, map);
  return (source) => {
    const { text } = source;
    const rewriter = new AlignedRewriter(source);
    let kept = 0;
    /** Length of the last character written, if a replacement had more characters than it replaced; otherwise 0. */
    let surplus = 0;
    const change = (part: string, from: number): boolean => {
      const written = map.lookUp(part);
      if (written === undefined) return false;
      const to = from + part.length;
      if (kept < from) surplus = 0;
      rewriter.keep(kept, from);
      if (written !== "") surplus = writePart(rewriter, text, written, from, to);
      else if (surplus > 0) {
        // The Rust library balances a removed character against the last inserted one, which changes the alignment of that.
        rewriter.alignLast(surplus, from, from + characterLength(text, from));
        surplus = 0;
      }
      kept = to;
      return true;
    };
    for (const [from, to] of changeable(text, map)) {
      if (isSimple(text, from, to)) {
        for (let unit = from; unit < to; unit++) change(text.charAt(unit), unit);
        continue;
      }
      const changeGrapheme = (start: number, end: number): void => {
        // Only graphemes of less than 6 bytes are looked up as a whole, which have at most 5 units.
        const segment = end - start < 6 ? text.slice(start, end) : "";
        if (segment !== "" && utf8Length(segment) < 6 && change(segment, start)) return;
        for (let unit = start; unit < end;) {
          const length = characterLength(text, unit);
          change(text.slice(unit, unit + length), unit);
          unit += length;
        }
      };
      let start = from;
      for (const end of boundaries(text, "grapheme", from, to)) {
        changeGrapheme(start, end);
        start = end;
      }
      changeGrapheme(start, to);
    }
    if (kept === 0) return source;
    rewriter.keep(kept, text.length);
    return rewriter.finish();
  };
}

/** As SentencePiece itself does: at each place the longest text that is in the map, whatever its graphemes. */
function replaceLongest(source: AlignedText, map: CharacterMap): AlignedText {
  const { text } = source;
  const rewriter = new AlignedRewriter(source);
  let kept = 0;
  for (let unit = 0; unit < text.length;) {
    // A character of ASCII may change with a mark after it.
    const mayChange =
      map.mayChange(text.charCodeAt(unit)) || (unit + 1 < text.length && map.mayChange(text.charCodeAt(unit + 1)));
    const found = mayChange ? map.longest(text, unit) : undefined;
    if (found === undefined) {
      unit += characterLength(text, unit);
      continue;
    }
    rewriter.keep(kept, unit);
    if (found.written !== "") rewriter.replace(found.written, unit, found.end);
    unit = found.end;
    kept = unit;
  }
  if (kept === 0) return source;
  rewriter.keep(kept, text.length);
  return rewriter.finish();
}

/**
 * Writes a replacement, aligned as in the Rust library: its first character to the first one it replaces, the rest to the last one. Returns the
 * length of the last character of that rest in UTF-16 code units; 0 for none.
 */
function writePart(rewriter: AlignedRewriter, text: string, written: string, from: number, to: number): number {
  const first = characterLength(written, 0);
  rewriter.replace(written.slice(0, first), from, from + characterLength(text, from));
  if (first === written.length) return 0;
  rewriter.replace(written.slice(first), characterStart(text, to), to);
  return written.length - characterStart(written, written.length);
}

/** Ranges that may change: characters outside printable ASCII or in the map, with their neighbours, which may form a grapheme with them. */
function changeable(text: string, map: CharacterMap): [from: number, to: number][] {
  const parts: [number, number][] = [];
  for (let unit = 0; unit < text.length; unit++) {
    if (!map.mayChange(text.charCodeAt(unit))) continue;
    const from = Math.max(0, unit - 1);
    while (unit < text.length && map.mayChange(text.charCodeAt(unit))) unit++;
    const to = Math.min(text.length, unit + 1);
    const last = parts.at(-1);
    if (last !== undefined && from < last[1]) last[1] = to;
    else parts.push([from, to]);
  }
  return parts;
}

/** Whether every unit of a range is a grapheme of its own: ASCII without CR, which joins with LF. */
function isSimple(text: string, from: number, to: number): boolean {
  for (let unit = from; unit < to; unit++) {
    const code = text.charCodeAt(unit);
    if (code >= 0x80 || code === 0x0d) return false;
  }
  return true;
}

function bytesOfMap(base64: string): Uint8Array {
  try {
    return decodeBase64(base64);
  } catch (error) {
    throw new Error("Precompiled has a precompiled_charsmap that is not base64", { cause: error });
  }
}

/** Longest key that is looked for, in UTF-16 code units. */
const maxKeyUnits = 18;

class CharacterMap {
  readonly #units: Uint32Array;
  readonly #texts: Uint8Array;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #changesAscii: Uint8Array = new Uint8Array(128);
  readonly #ascii: (string | undefined)[];

  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length < 4 ? -1 : view.getUint32(0, true);
    if (size < 4 || size % 4 !== 0 || size + 4 > bytes.length)
      throw new Error("Precompiled has a precompiled_charsmap that is cut short or broken");
    this.#units = Uint32Array.from({ length: size / 4 }, (_unit, index) => view.getUint32(4 + 4 * index, true));
    this.#texts = bytes.subarray(4 + size);
    this.#ascii = Array.from({ length: 128 }, (_text, unit) => this.#search(String.fromCharCode(unit)));
    for (let unit = 0; unit < 128; unit++) this.#changesAscii[unit] = unit < 0x20 || this.#ascii[unit] !== undefined ? 1 : 0;
  }

  mayChange(unit: number): boolean {
    return unit >= 0x80 || this.#changesAscii[unit] === 1;
  }

  /** The replacement of the shortest prefix of a text that is in the map; undefined if there is none. */
  lookUp(text: string): string | undefined {
    return text.length === 1 && text < "\u0080" ? this.#ascii[text.charCodeAt(0)] : this.#search(text);
  }

  /** The replacement of the longest text from `start` on that is in the map, and where that text ends; undefined if there is none. */
  longest(text: string, start: number): { readonly written: string; readonly end: number } | undefined {
    const first = characterLength(text, start);
    // Keys are a character with marks, or a sequence of a few.
    for (let end = Math.min(text.length, start + maxKeyUnits); end >= start + first; end--) {
      const written = this.#search(text.slice(start, end), true);
      if (written !== undefined) return { written, end };
    }
    return undefined;
  }

  /** `isExact`: the text must be in the map as a whole. */
  #search(text: string, isExact = false): string | undefined {
    const bytes = this.#encoder.encode(text);
    let last: string | undefined;
    let node = getOffset(this.#unit(0));
    for (const byte of bytes) {
      last = undefined;
      if (byte === 0) return undefined;
      node ^= byte;
      const unit = this.#unit(node);
      // The label of a unit is its lowest byte; a unit with a value has the highest bit set, so that it matches no byte.
      if ((unit & 0x800000ff) !== byte) return undefined;
      node ^= getOffset(unit);
      if (((unit >>> 8) & 1) === 0) continue;
      last = this.#textAt(this.#unit(node) & 0x7fffffff);
      if (!isExact) return last;
    }
    return isExact ? last : undefined;
  }

  #unit(index: number): number {
    const unit = this.#units[index];
    if (unit === undefined) throw new Error("Precompiled has a precompiled_charsmap that points outside itself");
    return unit;
  }

  #textAt(start: number): string {
    const end = this.#texts.indexOf(0, start);
    return this.#decoder.decode(this.#texts.subarray(start, end < 0 ? this.#texts.length : end));
  }
}

function getOffset(unit: number): number {
  return (unit >>> 10) << ((unit & 0x200) >>> 6);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let unit = 0; unit < text.length;) {
    const length = characterLength(text, unit);
    const code = text.charCodeAt(unit);
    bytes += length === 2 ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    unit += length;
  }
  return bytes;
}
