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
  getSteps,
} from "./byte-layout.ts";

/** Unpacked weights [k, n] from which the zero point has been subtracted. */
export interface ByteWeights {
  /** Weights [k, n] row-major, without their zero point. */
  readonly values: ArrayLike<number>;
  readonly k: number;
  readonly n: number;
}

/** Upper bound on the sum of two neighbouring weights of equal sign: two products are added with saturation at 32,767, and 255 * 128 is below it. */
const maxPairSum = 128;

/** Whether `byteMatmul` is exact for these weights: all fit int8, and the sum of two neighbouring products cannot overflow int16 for any activations. */
export function fitsBytes({ values, k, n }: ByteWeights): boolean {
  for (let row = 0; row < k; row += 2)
    for (let column = 0; column < n; column += 1) {
      const one = values[row * n + column] as number;
      const other = row + 1 < k ? (values[(row + 1) * n + column] as number) : 0;
      if (one < -128 || one > 127 || other < -128 || other > 127) return false;
      if (Math.abs(one + other) > maxPairSum) return false; // of different signs, they never reach it
    }
  return true;
}

/** Size of the packed weights in bytes. */
export function packedBytesLength({ k, n }: Pick<ByteWeights, "k" | "n">): number {
  return Math.ceil(n / tileColumns) * panelBytes(k);
}

/**
 * Writes the weights, with the norms and sums of their runs, to `packed` in the layout of `byteMatmul`. `packed` must have `packedBytesLength` bytes
 * and start at a multiple of four.
 */
export function packBytes(packed: Uint8Array, { values, k, n }: ByteWeights): void {
  const { buffer, byteOffset, byteLength } = packed;
  const bytes = new Int8Array(buffer, byteOffset, byteLength);
  const halves = new Int16Array(buffer, byteOffset, byteLength / 2);
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  packed.fill(0);
  const steps = getSteps(k);
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
        words[sum] = (words[sum] as number) + even + odd;
        if (square > largest) largest = square;
      }
      place = run.weightsAt + (run.end - start) * stepBytes;
    }
    words[panel / 4] = Math.ceil(Math.sqrt(largest));
    halves.fill(1, (panel + onesOffset) / 2, (panel + onesOffset) / 2 + 2);
  }
}

/** A run of steps `start` to `end` (exclusive), and the byte offset of its weights in the packed array. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly weightsAt: number;
}

/** Packs one column of a run. Returns the sums of the weights in the even and in the odd 16-bit lane, and the larger of the two sums of squares. */
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
      const value = values[(row + within) * n + first + column] as number;
      target[at + within] = value;
      const lane = within < 2 ? 0 : 1;
      sums[lane] += value;
      squares[lane] += value * value;
    }
  return [...sums, Math.max(...squares)];
}
