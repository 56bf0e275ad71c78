/** Points of a plane, x to the right and y down, in pixels. */

/** `[x, y]`. */
export type PixelPoint = readonly [x: number, y: number];

/** The corners of a quadrilateral, clockwise from the one at the top left. */
export type Quadrilateral = readonly [PixelPoint, PixelPoint, PixelPoint, PixelPoint];

/** Distance of two points in float32, as NumPy's `linalg.norm` computes it from float32 coordinates. */
export function distance32(first: PixelPoint, second: PixelPoint): number {
  const [x, y] = [Math.fround(first[0] - second[0]), Math.fround(first[1] - second[1])];
  return Math.fround(Math.sqrt(Math.fround(Math.fround(x * x) + Math.fround(y * y))));
}
