/**
 * The layout of weights for `matmul`: panels of 8 or 16 columns, one after the other, each row-major ([k, 8]). The last panel is padded with zeros. Weights are
 * packed once, when a model is loaded.
 */
import { tileColumns } from "./micro-kernel.ts";

/** Columns of a panel for vectors of more than 128 bits. */
export const widePanelColumns = 16;

/** Columns of a panel of packed weights. */
export type PanelColumns = typeof tileColumns | typeof widePanelColumns;

/** Shape of weights [k, n], and the columns of their panels. */
export interface PackedShape {
  readonly k: number;
  readonly n: number;
  /** Default: 8. */
  readonly panelColumns?: PanelColumns;
}

/** Number of float32 elements of packed weights. */
export function packedMatmulLength({ k, n, panelColumns = tileColumns }: PackedShape): number {
  return Math.ceil(n / panelColumns) * panelColumns * k;
}

/** Packs weights [k, n], row-major, into `packed`, which must have `packedMatmulLength` elements. */
export function packMatmulWeights(
  packed: Float32Array,
  weights: ArrayLike<number>,
  { k, n, panelColumns = tileColumns }: PackedShape,
): void {
  const whole = n - (n % panelColumns);
  let place = 0;
  for (let first = 0; first < whole; first += panelColumns)
    for (let row = 0, from = first; row < k; row += 1, from += n, place += panelColumns)
      for (let column = 0; column < panelColumns; column += 1) packed[place + column] = weights[from + column] as number;
  if (whole === n) return;
  for (let row = 0; row < k; row += 1)
    for (let column = whole; column < whole + panelColumns; column += 1, place += 1)
      packed[place] = column < n ? (weights[row * n + column] as number) : 0;
}

/** Unpacks weights packed by `packMatmulWeights` and returns them as [k, n] row-major. */
export function unpackMatmulWeights(packed: Float32Array, { k, n, panelColumns = tileColumns }: PackedShape): Float32Array {
  const weights = new Float32Array(k * n);
  for (let row = 0; row < k; row += 1)
    for (let first = 0; first < n; first += panelColumns) {
      const from = first * k + row * panelColumns;
      weights.set(packed.subarray(from, from + Math.min(panelColumns, n - first)), row * n + first);
    }
  return weights;
}
