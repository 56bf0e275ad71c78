/**
 * Precompiled: SentencePiece's character map. Its file form (sentencepiece, src/normalizer.cc) is the length of a trie in bytes
 * (32 bits, little-endian), the trie as 32-bit units of a double array (https://github.com/s-yata/darts-clone), and the texts it points
 * at, each ended by a zero byte. It is looked up in UTF-8, a grapheme at a time where that is shorter than 6 bytes, else by character.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { Rewriter, characterStart } from "../alignment/rewriter.ts";
import { boundaries } from "../unicode/segmentation.ts";
import { stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import type { Normalizer } from "./normalizer.ts";

export function precompiledNormalizer(step: ComponentConfig): Normalizer {
  const map = new CharacterMap(bytesOfMap(stringSetting(step, "precompiled_charsmap")));
  return (source) => {
    const { text } = source;
    const rewriter = new Rewriter(source);
    let kept = 0;
    /** Units of the last character written, where it is one of several that stand for less. */
    let surplus = 0;
    const change = (part: string, from: number): boolean => {
      const written = map.lookUp(part);
      if (written === undefined) return false;
      const to = from + part.length;
      if (kept < from) surplus = 0;
      rewriter.keep(kept, from);
      if (written !== "") surplus = writePart(rewriter, text, written, from, to);
      else if (surplus > 0) {
        // The Rust library counts what is taken out against what was put in before it.
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
        // No more than 5 bytes of UTF-8 are looked up together: 5 units at most.
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

/**
 * Like in the Rust library what is written stands for the first character of what it replaces, and what is left over for the last.
 * Returns the units of the last character left over.
 */
function writePart(rewriter: Rewriter, text: string, written: string, from: number, to: number): number {
  const first = characterLength(written, 0);
  rewriter.replace(written.slice(0, first), from, from + characterLength(text, from));
  if (first === written.length) return 0;
  rewriter.replace(written.slice(first), characterStart(text, to), to);
  return written.length - characterStart(written, written.length);
}

/** Parts that may change: what lies beyond printable ASCII or is in the map, each with its neighbours, which may be one grapheme with it. */
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

/** Whether each character is a grapheme of its own, as in ASCII all are but a line's two-character end. */
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

  /** What the shortest beginning of a text that is in the map becomes; undefined where none is. */
  lookUp(text: string): string | undefined {
    return text.length === 1 && text < "\u0080" ? this.#ascii[text.charCodeAt(0)] : this.#search(text);
  }

  #search(text: string): string | undefined {
    const bytes = this.#encoder.encode(text);
    let node = offsetOf(this.#unit(0));
    for (const byte of bytes) {
      if (byte === 0) return undefined;
      node ^= byte;
      const unit = this.#unit(node);
      // The label of a unit is its lowest byte; units that hold a value have the highest bit set and so match no byte.
      if ((unit & 0x800000ff) !== byte) return undefined;
      node ^= offsetOf(unit);
      if (((unit >>> 8) & 1) === 1) return this.#textAt(this.#unit(node) & 0x7fffffff);
    }
    return undefined;
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

function offsetOf(unit: number): number {
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
