/** Builds a changed `AlignedText` from front to back. */
import { AlignedText, characterLength } from "./aligned-text.ts";

/** Builds an AlignedText derived from `source`, in order. Throws Error from any write if the growth limit is exceeded. */
export class AlignedRewriter {
  readonly #source: AlignedText;
  #text = "";
  #starts: Int32Array;
  #ends: Int32Array;
  #length = 0;

  constructor(source: AlignedText, room: number = source.text.length + 16) {
    this.#source = source;
    this.#starts = new Int32Array(room);
    this.#ends = new Int32Array(room);
  }

  /** Number of UTF-16 code units written so far. */
  get length(): number {
    return this.#length;
  }

  /** Copies the units [from, to) of the source with their alignment. */
  keep(from: number, to: number): void {
    const { starts, ends, base, text } = this.#source;
    const at = this.#grow(to - from);
    this.#text += text.slice(from, to);
    if (starts === undefined || ends === undefined) {
      for (let unit = from, index = at; unit < to; unit++, index++) {
        this.#starts[index] = base + unit;
        this.#ends[index] = base + unit + 1;
      }
    } else {
      // Loops: the parts are mostly words, for which calls of set and fill cost more.
      for (let unit = from, index = at; unit < to; unit++, index++) {
        this.#starts[index] = starts[unit] as number;
        this.#ends[index] = ends[unit] as number;
      }
    }
  }

  /** Writes a text that replaces the units [from, to) of the source: all of it is aligned to their range. */
  replace(text: string, from: number, to: number): void {
    this.put(text, this.#source.startAt(from), this.#source.endAt(to - 1));
  }

  /** Writes a text aligned to the character of the source that ends at `unit`; at 0 to an empty range at the start. */
  insert(text: string, unit: number): void {
    if (unit < 1) this.put(text, this.#source.base, this.#source.base);
    else this.replace(text, characterStart(this.#source.text, unit), unit);
  }

  /** Writes a text aligned to the range [start, end) of the original. */
  put(text: string, start: number, end: number): void {
    const at = this.#grow(text.length);
    this.#text += text;
    for (let index = at; index < this.#length; index++) {
      this.#starts[index] = start;
      this.#ends[index] = end;
    }
  }

  /** Realigns the last `units` units written to the units [from, to) of the source. */
  alignLast(units: number, from: number, to: number): void {
    this.#starts.fill(this.#source.startAt(from), this.#length - units, this.#length);
    this.#ends.fill(this.#source.endAt(to - 1), this.#length - units, this.#length);
  }

  /** Returns the text written. */
  finish(): AlignedText {
    const { base, growth } = this.#source;
    const starts = this.#starts.subarray(0, this.#length);
    return new AlignedText(this.#text, base, { starts, ends: this.#ends.subarray(0, this.#length) }, growth);
  }

  /** Reserves space for more units and returns its start. */
  #grow(units: number): number {
    const at = this.#length;
    this.#length += units;
    this.#source.growth.count(units, this.#length);
    if (this.#length > this.#starts.length) {
      const room = Math.max(this.#length, 2 * this.#starts.length);
      this.#starts = getCopy(this.#starts, room);
      this.#ends = getCopy(this.#ends, room);
    }
    return at;
  }
}

function getCopy(numbers: Int32Array, room: number): Int32Array {
  const copy = new Int32Array(room);
  copy.set(numbers);
  return copy;
}

/** Index at which the character that ends at index `end` of the text begins, in UTF-16 code units. */
export function characterStart(text: string, end: number): number {
  return end >= 2 && characterLength(text, end - 2) === 2 ? end - 2 : end - 1;
}
