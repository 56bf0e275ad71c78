/** Weights of 8 bits as `byteMatmul` reads them: panels of 8 columns, as `byte-layout.ts` says. */
import { tileColumns } from "../matmul-tile.ts";
import {
  columnSumsOffset,
  onesOffset,
  panelBytes,
  panelHeaderBytes,
  runSteps,
  stepBytes,
  stepDepth,
  stepsOf,
} from "./byte-layout.ts";

export interface ByteWeights {
  /** [k, n] row-major, without their zero point. */
  readonly values: ArrayLike<number>;
  readonly k: number;
  readonly n: number;
}

/** Two products of a weight and a byte are added with saturation at 32,767, and 255 * 128 is the last multiple of 255 below it. */
const mostOfPair = 128;

/** Whether all weights are bytes, and no two neighbours along k overflow with any activation. */
export function fitsBytes({ values, k, n }: ByteWeights): boolean {
  for (let row = 0; row < k; row += 2)
    for (let column = 0; column < n; column += 1) {
      const one = values[row * n + column] ?? 0;
      const other = row + 1 < k ? (values[(row + 1) * n + column] ?? 0) : 0;
      if (one < -128 || one > 127 || other < -128 || other > 127) return false;
      if (Math.max(one, 0) + Math.max(other, 0) > mostOfPair || Math.min(one, 0) + Math.min(other, 0) < -mostOfPair) return false;
    }
  return true;
}

export function packedBytesLength({ k, n }: Pick<ByteWeights, "k" | "n">): number {
  return Math.ceil(n / tileColumns) * panelBytes(k);
}

/** Packs into `packed`, whose length is `packedBytesLength` and whose start is a multiple of four. */
export function packBytes(packed: Uint8Array, { values, k, n }: ByteWeights): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  packed.fill(0);
  const steps = stepsOf(k);
  for (let first = 0, panel = 0; first < n; first += tileColumns, panel += panelBytes(k)) {
    const columns = Math.min(tileColumns, n - first);
    const sums = new Int32Array(tileColumns);
    let largest = 0;
    let place = panel + panelHeaderBytes;
    for (let start = 0; start < steps; start += runSteps) {
      const end = Math.min(start + runSteps, steps);
      const [laneSums, squares] = [new Int32Array(tileColumns * 2), new Int32Array(tileColumns * 2)];
      const weightsAt = place + stepBytes;
      for (let row = start * stepDepth; row < Math.min(end * stepDepth, k); row += 1)
        for (let column = 0; column < columns; column += 1) {
          const value = values[row * n + first + column] ?? 0;
          const within = row % stepDepth;
          view.setInt8(weightsAt + (Math.floor(row / stepDepth) - start) * stepBytes + column * stepDepth + within, value);
          const lane = column * 2 + (within >> 1);
          laneSums[lane] = (laneSums[lane] ?? 0) + value;
          squares[lane] = (squares[lane] ?? 0) + value * value;
          sums[column] = (sums[column] ?? 0) + value;
        }
      laneSums.forEach((sum, lane) => view.setInt16(place + lane * 2, sum, true));
      largest = Math.max(largest, ...squares);
      place = weightsAt + (end - start) * stepBytes;
    }
    view.setInt32(panel, Math.ceil(Math.sqrt(largest)), true);
    for (let one = 0; one < 4; one += 1) view.setInt16(panel + onesOffset + one * 2, 1, true);
    sums.forEach((sum, column) => view.setInt32(panel + columnSumsOffset + column * 4, sum, true));
  }
}
