/**
 * The layout of weights for `matmul`: panels of 8 columns, one after the other, each row-major ([k, 8]). The last panel is padded with zeros. Weights are
 * packed once, when a model is loaded.
 */
import { tileColumns } from "./micro-kernel.ts";

/** Number of float32 elements of packed weights [k, n]. */
export function packedMatmulLength(k: number, n: number): number {
  return Math.ceil(n / tileColumns) * tileColumns * k;
}

/** Packs weights, given as [k, n] row-major, or as [n, k] row-major if `transposed`, into `packed`. `packed` must have `packedMatmulLength(k, n)` elements. */
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

/** Unpacks weights packed by `packMatmulWeights` and returns them as [k, n] row-major. */
export function unpackMatmulWeights(packed: Float32Array, { k, n }: { readonly k: number; readonly n: number }): Float32Array {
  const weights = new Float32Array(k * n);
  for (let row = 0; row < k; row += 1)
    for (let first = 0; first < n; first += tileColumns) {
      const from = first * k + row * tileColumns;
      weights.set(packed.subarray(from, from + Math.min(tileColumns, n - first)), row * n + first);
    }
  return weights;
}
