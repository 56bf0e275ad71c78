/**
 * The layout of weights for `matmul`: panels of 8 columns, one after the other, each row-major ([k, 8]). The last panel is padded with zeros. Weights are
 * packed once, when a model is loaded.
 */
import { tileColumns } from "./micro-kernel.ts";

/** Number of float32 elements of packed weights [k, n]. */
export function packedMatmulLength(k: number, n: number): number {
  return Math.ceil(n / tileColumns) * tileColumns * k;
}

/** Packs weights [k, n], row-major, into `packed`, which must have `packedMatmulLength(k, n)` elements. */
export function packMatmulWeights(
  packed: Float32Array,
  weights: ArrayLike<number>,
  { k, n }: { readonly k: number; readonly n: number },
): void {
  let place = 0;
  for (let first = 0; first < n; first += tileColumns)
    for (let row = 0; row < k; row += 1)
      for (let column = first; column < first + tileColumns; column += 1, place += 1)
        packed[place] = column < n ? (weights[row * n + column] as number) : 0;
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
