/**
 * Weights as the kernel `matmul` reads them: panels of 8 columns, one after the other; in a panel the 8 columns of k = 0, then of k = 1 and
 * so on. The last panel is filled with zeros. Packed once, at load.
 */
import { tileColumns } from "./micro-kernel.ts";

/** Float32 elements of [k, n] packed. */
export function packedMatmulLength(k: number, n: number): number {
  return Math.ceil(n / tileColumns) * tileColumns * k;
}

/** Packs B, given as [k, n] row-major, or as [n, k] where `transposed`. `packed` has `packedMatmulLength(k, n)` elements. */
export function packMatmulWeights(
  packed: Float32Array,
  weights: ArrayLike<number>,
  shape: { readonly k: number; readonly n: number; readonly transposed?: boolean },
): void {
  const { k, n, transposed = false } = shape;
  const [rowStep, columnStep] = transposed ? [1, k] : [n, 1];
  let place = 0;
  for (let first = 0; first < n; first += tileColumns)
    for (let row = 0; row < k; row += 1)
      for (let column = first; column < first + tileColumns; column += 1, place += 1)
        packed[place] = column < n ? (weights[row * rowStep + column * columnStep] ?? 0) : 0;
}

/** What was packed: [k, n] row-major. */
export function unpackMatmulWeights(packed: Float32Array, { k, n }: { readonly k: number; readonly n: number }): Float32Array {
  const weights = new Float32Array(k * n);
  for (let row = 0; row < k; row += 1)
    for (let first = 0; first < n; first += tileColumns) {
      const from = first * k + row * tileColumns;
      weights.set(packed.subarray(from, from + Math.min(tileColumns, n - first)), row * n + first);
    }
  return weights;
}
