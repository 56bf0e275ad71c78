/** Offsets in other units than JavaScript's own. */

/** UTF-16 units, Unicode code points (as Python counts), or bytes of UTF-8. */
export const offsetUnits = ["utf16", "codepoints", "bytes"] as const;
export type OffsetUnit = (typeof offsetUnits)[number];

/** Offsets of an encoding, which count UTF-16 units of `text`, in another unit. A lone surrogate is one code point and three bytes. */
export function convertOffsets(offsets: Int32Array, text: string, unit: OffsetUnit): Int32Array {
  if (unit === "utf16") return offsets;
  const positions = positionsOf(text, unit);
  return offsets.map((offset) => positions[offset] ?? 0);
}

/** For every offset of a text, its end included, the same place in another unit. Within a surrogate pair it is the pair's start. */
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
