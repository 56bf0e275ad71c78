/** Conversion of text offsets between units. */

/** Units of offsets: UTF-16 code units as in JavaScript strings, code points as in Python strings, bytes of UTF-8. */
export const offsetUnits = ["utf16", "codepoints", "bytes"] as const;
/** A unit of offsets. */
export type OffsetUnit = (typeof offsetUnits)[number];

/** Converts offsets into `text` from UTF-16 code units to another unit. An unpaired surrogate counts as one code point and three bytes. */
export function convertOffsets(offsets: Int32Array, text: string, unit: OffsetUnit): Int32Array {
  if (unit === "utf16") return offsets;
  const positions = positionsOf(text, unit);
  return offsets.map((offset) => positions[offset] ?? 0);
}

/** The position of every UTF-16 offset of a text, its end included, in another unit. Inside a surrogate pair it is that of the pair's start. */
function positionsOf(text: string, unit: "codepoints" | "bytes"): Int32Array {
  const positions = new Int32Array(text.length + 1);
  let position = 0;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? 0;
    const units = point > 0xffff ? 2 : 1;
    positions.fill(position, at, at + units);
    position += unit === "codepoints" ? 1 : point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    at += units;
  }
  positions[text.length] = position;
  return positions;
}
