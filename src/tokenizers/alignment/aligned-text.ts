/**
 * Text with an alignment to the original, the counterpart of `NormalizedString` in the Rust library: through every change, each UTF-16 code unit
 * keeps the range of the original that it came from.
 *
 * Both units of a surrogate pair have the same range, or in unchanged text one unit each, so that a range of whole characters maps to [start of
 * its first unit, end of its last unit).
 */
import { TextGrowthLimit } from "./growth-limit.ts";

/**
 * An immutable text that was derived from an original text, with the alignment of each of its characters to a range of the
 * original. Indices are UTF-16 code units.
 */
export class AlignedText {
  readonly text: string;
  /** Offset of unit 0 in the original, if the text is unchanged. Text inserted at the start is aligned to it. */
  readonly base: number;
  /** Start in the original of each unit. Undefined for unchanged text: unit i came from [base + i, base + i + 1). */
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
  /** Limit shared by all texts derived from one original. */
  readonly growth: TextGrowthLimit;

  constructor(
    text: string,
    base: number,
    alignment?: { readonly starts: Int32Array; readonly ends: Int32Array },
    growth: TextGrowthLimit = new TextGrowthLimit(text.length),
  ) {
    this.text = text;
    this.growth = growth;
    this.base = base;
    this.starts = alignment?.starts;
    this.ends = alignment?.ends;
  }

  /** Start in the original of the unit at an index. */
  startAt(unit: number): number {
    return this.starts === undefined ? this.base + unit : (this.starts[unit] as number);
  }

  /** End in the original of the unit at an index. */
  endAt(unit: number): number {
    return this.ends === undefined ? this.base + unit + 1 : (this.ends[unit] as number);
  }

  /** Another text of the same length with this alignment. */
  withText(text: string): AlignedText {
    if (text === this.text) return this;
    return this.starts === undefined || this.ends === undefined
      ? new AlignedText(text, this.base, undefined, this.growth)
      : new AlignedText(text, this.base, { starts: this.starts, ends: this.ends }, this.growth);
  }

  /** The units [from, to) as a text of their own. Text inserted at its start is aligned to its first unit. */
  slice(from: number, to: number): AlignedText {
    if (from === 0 && to === this.text.length) return this;
    const text = this.text.slice(from, to);
    if (this.starts === undefined || this.ends === undefined)
      return new AlignedText(text, this.base + from, undefined, this.growth);
    const alignment = { starts: this.starts.subarray(from, to), ends: this.ends.subarray(from, to) };
    return new AlignedText(text, alignment.starts[0] ?? this.base, alignment, this.growth);
  }
}

/** Length in UTF-16 code units of the character at an index: 2 for a surrogate pair. */
export function characterLength(text: string, at: number): 1 | 2 {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
