/**
 * A text that remembers, through every change made to it, which part of the original each of its characters came from.
 *
 * Positions count UTF-16 code units. Both units of a surrogate pair belong to the same part of the original, or to its two halves
 * while nothing has been changed; so a range of whole characters always maps to [start of its first unit, end of its last).
 */
import { GrowthLimit } from "./growth-limit.ts";

export class AlignedText {
  readonly text: string;
  /** Where unit 0 lies in the original while nothing has been changed; what a character put in before all others is aligned to. */
  readonly base: number;
  /** Per unit: start in the original. Undefined: unit i came from [base + i, base + i + 1). */
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
  /** Shared by everything that is made of one original text. */
  readonly growth: GrowthLimit;

  constructor(
    text: string,
    base: number,
    alignment?: { readonly starts: Int32Array; readonly ends: Int32Array },
    growth: GrowthLimit = new GrowthLimit(text.length),
  ) {
    this.text = text;
    this.growth = growth;
    this.base = base;
    this.starts = alignment?.starts;
    this.ends = alignment?.ends;
  }

  startAt(unit: number): number {
    return this.starts === undefined ? this.base + unit : (this.starts[unit] as number);
  }

  endAt(unit: number): number {
    return this.ends === undefined ? this.base + unit + 1 : (this.ends[unit] as number);
  }

  /** The same alignment under another text of the same length, unit by unit. */
  withText(text: string): AlignedText {
    if (text === this.text) return this;
    return this.starts === undefined || this.ends === undefined
      ? new AlignedText(text, this.base, undefined, this.growth)
      : new AlignedText(text, this.base, { starts: this.starts, ends: this.ends }, this.growth);
  }

  /** A part of this text as a text of its own. What is put in before it is aligned to where it begins. */
  slice(from: number, to: number): AlignedText {
    if (from === 0 && to === this.text.length) return this;
    const text = this.text.slice(from, to);
    if (this.starts === undefined || this.ends === undefined)
      return new AlignedText(text, this.base + from, undefined, this.growth);
    const alignment = { starts: this.starts.subarray(from, to), ends: this.ends.subarray(from, to) };
    return new AlignedText(text, alignment.starts[0] ?? this.base, alignment, this.growth);
  }
}

/** Length in units of the character at a position. */
export function characterLength(text: string, at: number): 1 | 2 {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
