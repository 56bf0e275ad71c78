/** Decodes binary responses. */

/**
 * The vectors of a response of POST /api/embed with the media type application/octet-stream: count and dimension as u64, then the rows as f32,
 * little-endian.
 */
export function toVectors(bytes: ArrayBuffer): Float32Array[] {
  const view = new DataView(bytes);
  const [count, dimensions] = [Number(view.getBigUint64(0, true)), Number(view.getBigUint64(8, true))];
  const valueAt = (index: number): number => view.getFloat32(16 + 4 * index, true);
  return Array.from({ length: count }, (_row, row) =>
    Float32Array.from({ length: dimensions }, (_value, column) => valueAt(row * dimensions + column)),
  );
}
