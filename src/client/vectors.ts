/** Answers of numbers as bytes. */

/** The vectors of an answer of POST /api/embed in the form application/octet-stream: u64 count, u64 dimension, f32 rows, little-endian. */
export function vectorsOf(bytes: ArrayBuffer): Float32Array[] {
  const view = new DataView(bytes);
  const [count, dimensions] = [Number(view.getBigUint64(0, true)), Number(view.getBigUint64(8, true))];
  const valueAt = (index: number): number => view.getFloat32(16 + 4 * index, true);
  return Array.from({ length: count }, (_row, row) =>
    Float32Array.from({ length: dimensions }, (_value, column) => valueAt(row * dimensions + column)),
  );
}
