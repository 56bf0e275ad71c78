/** Conversion of text offsets between units. */
import { at } from "../contract/checked.ts";

/** Units of offsets: UTF-16 code units as in JavaScript strings, code points as in Python strings, bytes of UTF-8. */
export const offsetUnits = ["utf16", "codepoints", "bytes"] as const;
/** A unit of offsets. */
export type OffsetUnit = (typeof offsetUnits)[number];

/**
 * Converts offsets into `text` from UTF-16 code units to another unit. An unpaired surrogate counts as one code point and three bytes. An
 * offset beyond the end of the text becomes 0.
 */
export function convertOffsets(offsets: Int32Array, text: string, unit: OffsetUnit): Int32Array {
  if (unit === "utf16") return offsets;
  const positions = getPositions(text, unit);
  return offsets.map((offset) => positions[offset] ?? 0); // outside of the text: an offset into the other text of a pair
}

/** A range of a text: start included, end excluded. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Converts the ranges of spans of `text` from UTF-16 code units to another unit. Returns one range per span, in order. */
export function convertSpans(spans: readonly TextRange[], text: string, unit: OffsetUnit): TextRange[] {
  const offsets = convertOffsets(Int32Array.from(spans.flatMap(({ start, end }) => [start, end])), text, unit);
  return spans.map((_span, index) => ({ start: at(offsets, 2 * index), end: at(offsets, 2 * index + 1) }));
}

/** The position of every UTF-16 offset of a text, its end included, in another unit. Inside a surrogate pair it is that of the pair's start. */
function getPositions(text: string, unit: "codepoints" | "bytes"): Int32Array {
  const positions = new Int32Array(text.length + 1);
  let position = 0;
  for (let unitIndex = 0; unitIndex < text.length;) {
    const point = text.codePointAt(unitIndex) ?? 0;
    const units = point > 0xffff ? 2 : 1;
    positions.fill(position, unitIndex, unitIndex + units);
    position += unit === "codepoints" ? 1 : point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    unitIndex += units;
  }
  positions[text.length] = position;
  return positions;
}
