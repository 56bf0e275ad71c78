/**
 * The layout of integer weights for `integerMatmul`: panels of 8 columns; within a panel, for each pair of neighbouring k, the two weights of column 0, of
 * column 1, and so on. The last panel is padded with zeros to 8 columns.
 */
import { tileColumns } from "../matmul/micro-kernel.ts";

/** Bytes per packed weight: int8, or int16. */
export type WeightBytes = 1 | 2;

/** Shape of the weights [k, n], with an even k, and how they are packed. */
export interface IntegerWeightsShape {
  readonly k: number;
  readonly n: number;
  readonly weightBytes: WeightBytes;
}

/** Size of the packed weights in bytes. */
export function packedIntegerLength({ k, n, weightBytes }: IntegerWeightsShape): number {
  return Math.ceil(n / tileColumns) * tileColumns * k * weightBytes;
}

/** Packs row-major weights that fit `weightBytes`. `packed` must have `packedIntegerLength` bytes and start at a multiple of two. */
export function packIntegerWeights(
  packed: Uint8Array,
  values: ArrayLike<number>,
  { k, n, weightBytes }: IntegerWeightsShape,
): void {
  const { buffer, byteOffset, byteLength } = packed;
  const isByte = weightBytes === 1;
  const target = isByte ? new Int8Array(buffer, byteOffset, byteLength) : new Int16Array(buffer, byteOffset, byteLength / 2);
  let place = 0;
  for (let first = 0; first < n; first += tileColumns) {
    const last = Math.min(first + tileColumns, n);
    for (let row = 0; row < k; row += 2, place += 2 * tileColumns) {
      for (let column = first, to = place; column < last; column += 1, to += 2) {
        const from = row * n + column;
        target[to] = values[from] as number; // per element: unchecked
        target[to + 1] = values[from + n] as number;
      }
      if (last < first + tileColumns) target.fill(0, place + 2 * (last - first), place + 2 * tileColumns);
    }
  }
}
