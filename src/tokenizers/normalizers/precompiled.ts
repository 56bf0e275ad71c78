/**
 * Precompiled: SentencePiece's character map. Its file form (sentencepiece, src/normalizer.cc) is the length of a trie in bytes
 * (32 bits, little-endian), the trie as 32-bit units of a double array (https://github.com/s-yata/darts-clone), and the texts it points
 * at, each ended by a zero byte. It is looked up in UTF-8, a grapheme at a time where that is shorter than 6 bytes, else by character.
 */
import { characterLength } from "../aligned-text.ts";
import { bytesOfBase64 } from "../../base64.ts";
import { Rewriter } from "../rewriter.ts";
import { textSetting } from "../step-settings.ts";
import type { Step } from "../tokenizer-json.ts";
import { type Changed, transform } from "../transform.ts";
import type { Normalizer } from "./index.ts";

export function precompiled(step: Step): Normalizer {
  const map = new CharacterMap(bytesOfMap(textSetting(step, "precompiled_charsmap")));
  const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
  return (source) => {
    const { text } = source;
    const parts = changeable(text, map);
    if (parts.length === 0) return source;
    const changed: Changed[] = [];
    let modified = false;
    const change = (part: string): boolean => {
      const written = map.lookUp(part);
      if (written === undefined) return false;
      modified = true;
      pushChanged(part, written, changed);
      return true;
    };
    const first = parts[0]?.[0] ?? 0;
    // From the first character that may change on, all go through the same count, since one change can move the alignment of the next.
    let at = first;
    for (const [from, to] of parts) {
      for (; at < from; at++) changed.push({ character: text.charAt(at), change: 0 });
      for (const { segment } of graphemes.segment(text.slice(from, to))) {
        if (utf8Length(segment) < 6 && change(segment)) continue;
        for (const character of segment) if (!change(character)) changed.push({ character, change: 0 });
      }
      at = to;
    }
    if (!modified) return source;
    const rewriter = new Rewriter(source);
    rewriter.keep(0, first);
    for (; at < text.length; at++) changed.push({ character: text.charAt(at), change: 0 });
    transform(source, first, text.length, changed, rewriter);
    return rewriter.finish();
  };
}

/** The Rust library counts so: one character longer or shorter is one put in or taken out, and the rest of a longer text is put in. */
function pushChanged(part: string, written: string, changed: Changed[]): void {
  const characters = Array.from(written);
  const more = characters.length - Array.from(part).length;
  for (const [index, character] of characters.entries()) changed.push({ character, change: index === 0 ? more : index });
}

/** Parts that may change: what lies beyond printable ASCII or is in the map, each with its neighbours, which may be one grapheme with it. */
function changeable(text: string, map: CharacterMap): [from: number, to: number][] {
  const parts: [number, number][] = [];
  for (let unit = 0; unit < text.length; unit++) {
    if (!map.mayChange(text.charCodeAt(unit))) continue;
    const from = Math.max(parts.at(-1)?.[1] ?? 0, unit - 1);
    while (unit < text.length && map.mayChange(text.charCodeAt(unit))) unit++;
    parts.push([from, Math.min(text.length, unit + 1)]);
  }
  return parts;
}

function bytesOfMap(base64: string): Uint8Array {
  try {
    return bytesOfBase64(base64);
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

  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length < 4 ? -1 : view.getUint32(0, true);
    if (size < 4 || size % 4 !== 0 || size + 4 > bytes.length)
      throw new Error("Precompiled has a precompiled_charsmap that is cut short or broken");
    this.#units = Uint32Array.from({ length: size / 4 }, (_unit, index) => view.getUint32(4 + 4 * index, true));
    this.#texts = bytes.subarray(4 + size);
    for (let unit = 0; unit < 128; unit++)
      this.#changesAscii[unit] = unit < 0x20 || this.lookUp(String.fromCharCode(unit)) !== undefined ? 1 : 0;
  }

  mayChange(unit: number): boolean {
    return unit >= 0x80 || this.#changesAscii[unit] === 1;
  }

  /** What the shortest beginning of a text that is in the map becomes; undefined where none is. */
  lookUp(text: string): string | undefined {
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
