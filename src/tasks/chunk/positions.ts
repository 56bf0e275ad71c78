/** Positions of a text in the unit a caller counts in. */

/** UTF-16 units (JavaScript), code points (Python) or bytes of UTF-8. */
export type OffsetUnit = "utf16" | "codepoints" | "bytes";

export const offsetUnits: readonly OffsetUnit[] = ["utf16", "codepoints", "bytes"];

/**
 * Turns positions in UTF-16 units into another unit. They must be asked for in rising order; the text is gone through once. A lone
 * surrogate is one code point, and 3 bytes, as the replacement character that encoders write for it.
 */
export function positionsIn(text: string, unit: OffsetUnit): (position: number) => number {
  if (unit === "utf16") return (position) => position;
  let at = 0;
  let count = 0;
  return (position) => {
    while (at < position) {
      const codePoint = text.codePointAt(at) ?? 0;
      at += codePoint > 0xffff ? 2 : 1;
      count += unit === "codepoints" ? 1 : bytesOf(codePoint);
    }
    return count;
  };
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint > 0xffff ? 4 : 3;
}
