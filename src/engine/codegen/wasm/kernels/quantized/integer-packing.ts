/**
 * The layout of 8-bit weights for `integerMatmul`: panels of 8 columns; within a panel, for each pair of neighbouring k, the two weights of column 0, of
 * column 1, and so on. k is padded with zeros to an even number, the last panel to 8 columns.
 */
import { tileColumns } from "../matmul/micro-kernel.ts";

/** Bytes per packed weight: 1 when all zero points are 0 (or 128 of uint8, which is equivalent), else 2. */
export type WeightBytes = 1 | 2;

/** Unpacked 8-bit weights [k, n] with their zero points. */
export interface IntegerWeights {
  /** Row-major. */
  readonly values: Uint8Array | Int8Array;
  readonly k: number;
  readonly n: number;
  /** One zero point, or one per column. Default: 0. */
  readonly zeroPoints?: ArrayLike<number>;
}

/** Bytes per packed weight: 1 if every zero point is 0 (int8) or 128 (uint8), else 2, because weight - zero point may exceed int8. */
export function integerWeightBytes({ values, zeroPoints = [0] }: IntegerWeights): WeightBytes {
  const harmless = values instanceof Uint8Array ? 128 : 0;
  return Array.from(zeroPoints).every((zero) => zero === harmless) ? 1 : 2;
}

/** Size of the packed weights in bytes. */
export function packedIntegerLength(weights: IntegerWeights): number {
  const { k, n } = weights;
  return Math.ceil(n / tileColumns) * tileColumns * Math.ceil(k / 2) * 2 * integerWeightBytes(weights);
}

/**
 * Subtracts the zero points from the weights and writes them to `packed` in the layout of `integerMatmul`. `packed` must have `packedIntegerLength`
 * bytes and start at a multiple of two.
 */
export function packIntegerWeights(packed: Uint8Array, weights: IntegerWeights): void {
  packDifferences(packed, weights, integerWeightBytes(weights));
}

/** As `packIntegerWeights`, for weights of any integer type whose differences from their zero points fit `weightBytes`. */
export function packDifferences(
  packed: Uint8Array,
  { values, k, n, zeroPoints = [0] }: Omit<IntegerWeights, "values"> & { readonly values: ArrayLike<number> },
  weightBytes: WeightBytes,
): void {
  const { buffer, byteOffset, byteLength } = packed;
  const isByte = weightBytes === 1;
  const target = isByte ? new Int8Array(buffer, byteOffset, byteLength) : new Int16Array(buffer, byteOffset, byteLength / 2);
  const zeros = Int16Array.from({ length: n }, (_, column) => zeroPoints[zeroPoints.length === 1 ? 0 : column] ?? 0);
  let place = 0;
  for (let first = 0; first < n; first += tileColumns) {
    const last = Math.min(first + tileColumns, n);
    for (let row = 0; row < k; row += 2, place += 2 * tileColumns) {
      const hasPair = row + 1 < k;
      for (let column = first, to = place; column < last; column += 1, to += 2) {
        const from = row * n + column;
        const zero = zeros[column] as number; // per element: unchecked
        target[to] = (values[from] as number) - zero;
        target[to + 1] = hasPair ? (values[from + n] as number) - zero : 0;
      }
      if (last < first + tileColumns) target.fill(0, place + 2 * (last - first), place + 2 * tileColumns);
    }
  }
}
