/** Writes a changed text from front to back, with the alignment of every unit. */
import { AlignedText, characterLength } from "./aligned-text.ts";

export class Rewriter {
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

  /** Units written so far. */
  get length(): number {
    return this.#length;
  }

  /** Takes units [from, to) of the source over as they are. */
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
      // Loops, since parts are mostly words, and calls of set and fill cost more than these do.
      for (let unit = from, index = at; unit < to; unit++, index++) {
        this.#starts[index] = starts[unit] as number;
        this.#ends[index] = ends[unit] as number;
      }
    }
  }

  /** Writes a text in the place of the source's units [from, to). */
  replace(text: string, from: number, to: number): void {
    this.put(text, this.#source.startAt(from), this.#source.endAt(to - 1));
  }

  /** Writes a text that stands for the character which ends before `unit`, or for nothing where none does. */
  insert(text: string, unit: number): void {
    if (unit < 1) this.put(text, this.#source.base, this.#source.base);
    else this.replace(text, characterStart(this.#source.text, unit), unit);
  }

  /** Writes a text aligned to [start, end) of the original. */
  put(text: string, start: number, end: number): void {
    const at = this.#grow(text.length);
    this.#text += text;
    for (let index = at; index < this.#length; index++) {
      this.#starts[index] = start;
      this.#ends[index] = end;
    }
  }

  /** Lets the last units written stand for the source's units [from, to) instead. */
  alignLast(units: number, from: number, to: number): void {
    this.#starts.fill(this.#source.startAt(from), this.#length - units, this.#length);
    this.#ends.fill(this.#source.endAt(to - 1), this.#length - units, this.#length);
  }

  finish(): AlignedText {
    const { base, growth } = this.#source;
    const starts = this.#starts.subarray(0, this.#length);
    return new AlignedText(this.#text, base, { starts, ends: this.#ends.subarray(0, this.#length) }, growth);
  }

  /** Makes room, and returns where it begins. */
  #grow(units: number): number {
    const at = this.#length;
    this.#length += units;
    this.#source.growth.count(units, this.#length);
    if (this.#length > this.#starts.length) {
      const room = Math.max(this.#length, 2 * this.#starts.length);
      this.#starts = copyOf(this.#starts, room);
      this.#ends = copyOf(this.#ends, room);
    }
    return at;
  }
}

function copyOf(numbers: Int32Array, room: number): Int32Array {
  const copy = new Int32Array(room);
  copy.set(numbers);
  return copy;
}

/** Where the character begins that ends before `end`. */
export function characterStart(text: string, end: number): number {
  return end >= 2 && characterLength(text, end - 2) === 2 ? end - 2 : end - 1;
}
