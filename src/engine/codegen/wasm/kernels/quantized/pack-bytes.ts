/** Packs 8-bit weights for `byteMatmul`: panels of 8 columns; see `byte-layout.ts`. */
import { tileColumns } from "../matmul/micro-kernel.ts";
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

/** Unpacked weights [k, n] from which the zero point has been subtracted. */
export interface ByteWeights {
  /** Weights [k, n] row-major, without their zero point. */
  readonly values: ArrayLike<number>;
  readonly k: number;
  readonly n: number;
}

/** Two products of a weight and a byte are added with saturation at 32,767, and 255 * 128 is the last multiple of 255 below it. */
const maxPairSum = 128;

/** Whether all weights fit a byte, and the sum of products of two neighbouring k cannot overflow int16 for any activations. */
export function fitsBytes({ values, k, n }: ByteWeights): boolean {
  for (let row = 0; row < k; row += 2)
    for (let column = 0; column < n; column += 1) {
      const one = values[row * n + column] ?? 0;
      const other = row + 1 < k ? (values[(row + 1) * n + column] ?? 0) : 0;
      if (one < -128 || one > 127 || other < -128 || other > 127) return false;
      if (Math.max(one, 0) + Math.max(other, 0) > maxPairSum || Math.min(one, 0) + Math.min(other, 0) < -maxPairSum) return false;
    }
  return true;
}

/** Size of the packed weights in bytes. */
export function packedBytesLength({ k, n }: Pick<ByteWeights, "k" | "n">): number {
  return Math.ceil(n / tileColumns) * panelBytes(k);
}

/** Packs weights. `packed` must have `packedBytesLength` bytes and start at a multiple of four. */
export function packBytes(packed: Uint8Array, { values, k, n }: ByteWeights): void {
  const { buffer, byteOffset, byteLength } = packed;
  const bytes = new Int8Array(buffer, byteOffset, byteLength);
  const halves = new Int16Array(buffer, byteOffset, byteLength / 2);
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  packed.fill(0);
  const steps = stepsOf(k);
  for (let first = 0, panel = 0; first < n; first += tileColumns, panel += panelBytes(k)) {
    const columns = Math.min(tileColumns, n - first);
    let largest = 0;
    let place = panel + panelHeaderBytes;
    for (let start = 0; start < steps; start += runSteps) {
      const run = { start, end: Math.min(start + runSteps, steps), sumsAt: place / 2, weightsAt: place + stepBytes };
      for (let column = 0; column < columns; column += 1) {
        const [even, odd, square] = packColumn(bytes, { values, k, n }, run, first, column);
        halves[run.sumsAt + column * 2] = even;
        halves[run.sumsAt + column * 2 + 1] = odd;
        const sum = (panel + columnSumsOffset) / 4 + column;
        words[sum] = (words[sum] ?? 0) + even + odd;
        if (square > largest) largest = square;
      }
      place = run.weightsAt + (run.end - start) * stepBytes;
    }
    words[panel / 4] = Math.ceil(Math.sqrt(largest));
    halves.fill(1, (panel + onesOffset) / 2, (panel + onesOffset) / 2 + 2);
  }
}

/** Steps, and where in memory their weights go. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly weightsAt: number;
}

/** One column of a run. Gives the sums of its two lanes, and the larger sum of their squares. */
function packColumn(
  target: Int8Array,
  { values, k, n }: ByteWeights,
  { start, end, weightsAt }: Run,
  first: number,
  column: number,
): readonly [even: number, odd: number, square: number] {
  const sums: [number, number] = [0, 0];
  const squares: [number, number] = [0, 0];
  let at = weightsAt + column * stepDepth;
  for (let row = start * stepDepth; row < end * stepDepth; row += stepDepth, at += stepBytes)
    for (let within = 0; within < stepDepth && row + within < k; within += 1) {
      const value = values[(row + within) * n + first + column] ?? 0;
      target[at + within] = value;
      const lane = within < 2 ? 0 : 1;
      sums[lane] += value;
      squares[lane] += value * value;
    }
  return [...sums, Math.max(...squares)];
}
