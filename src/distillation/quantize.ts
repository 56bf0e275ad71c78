/** Quantizes rows to integers of 8 or 4 bits with one scale per row, which is chosen to minimize the squared error. */
import { decodeFloat16, encodeFloat16 } from "../contract/float16.ts";
import { forEachRow, getRow, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";

/** Bits per value of a quantized embedding matrix. */
export type Bits = 8 | 4;

/** Quantized rows of an embedding matrix: the value of an element is its code times the scale of its row. */
export interface QuantizedRows {
  readonly bits: Bits;
  readonly rows: number;
  readonly dimensions: number;
  /** int8 [rows, dimensions]: -128 to 127, or -8 to 7. */
  readonly codes: Int8Array;
  /** Scales, one per row. With 4 bits each can be stored exactly as a float16. */
  readonly scales: Float32Array;
}

/** Magnitudes of the smallest and the largest code. */
const codeRange = { 8: { low: 128, high: 127 }, 4: { low: 8, high: 7 } } as const;
/** What the largest value of a row maps to, as a share of the range of codes, for each scale to try. Above 1 the value is clipped, which gives finer steps. */
const scaleStretches: readonly number[] = Array.from({ length: 14 }, (_, index) => 0.85 + index * 0.05);
/** Largest value of a matrix before it is quantized to 4 bits, so that the scales of small rows are normal float16 numbers. */
const maxMatrixValue = 256;
const rowsPerSlice = 500;

/**
 * Quantizes the rows of an embedding matrix. With 4 bits the whole matrix is rescaled first, which does not change cosines.
 * Throws ABORTED.
 */
export async function quantizeTable(rows: Matrix, bits: Bits, signal?: AbortSignal): Promise<QuantizedRows> {
  const { low, high } = codeRange[bits];
  const codes = new Int8Array(rows.data.length);
  const scales = new Float32Array(rows.rows);
  const largest = rows.data.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const factor = bits === 4 && largest > 0 ? maxMatrixValue / largest : 1;
  const storable = bits === 4 ? roundToFloat16 : Math.fround;
  const values = new Float64Array(rows.columns);
  await forEachRow(rows.rows, rowsPerSlice, signal, (row) => {
    for (const [i, value] of getRow(rows, row).entries()) values[i] = value * factor;
    const scale = bestScale(values, low, high, storable);
    scales[row] = scale;
    if (scale === 0) return;
    for (const [i, value] of values.entries()) codes[row * rows.columns + i] = getCode(value * (1 / scale), low, high);
  });
  return { bits, rows: rows.rows, dimensions: rows.columns, codes, scales };
}

/** Computes the float32 values that quantized rows represent. */
export function dequantizeRows({ rows, dimensions, codes, scales }: QuantizedRows): Matrix {
  const matrix = zeroMatrix(rows, dimensions);
  for (let at = 0; at < codes.length; at++) matrix.data[at] = (codes[at] ?? 0) * (scales[Math.floor(at / dimensions)] ?? 0);
  return matrix;
}

/** Packs two 4-bit codes into each byte, the first in the low bits, each stored as code + 8: uint8 [rows, dimensions / 2]. */
export function packNibbles(codes: Int8Array): Uint8Array {
  const packed = new Uint8Array(codes.length / 2);
  for (let at = 0; at < packed.length; at++) packed[at] = ((codes[2 * at] ?? 0) + 8) | (((codes[2 * at + 1] ?? 0) + 8) << 4);
  return packed;
}

function getCode(value: number, low: number, high: number): number {
  const rounded = Math.round(value);
  return rounded > high ? high : rounded < -low ? -low : rounded;
}

/**
 * The scale with the smallest squared error, by grid search. Negative scales are tried too: the range has one more code below zero than above, and a negative scale
 * makes it available to positive values.
 */
function bestScale(values: Float64Array, low: number, high: number, storable: (scale: number) => number): number {
  const largest = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  if (largest === 0) return 0;
  let best = 0;
  let smallestError = Infinity;
  for (const stretch of scaleStretches) {
    for (const sign of [1, -1]) {
      const scale = storable((sign * largest) / (low * stretch));
      if (scale === 0) continue;
      const inverse = 1 / scale;
      let error = 0;
      for (let i = 0; i < values.length; i++) {
        const value = values[i] ?? 0;
        const difference = value - scale * getCode(value * inverse, low, high);
        error += difference * difference;
      }
      if (error < smallestError) {
        smallestError = error;
        best = scale;
      }
    }
  }
  return best;
}

/** The nearest number that a float16 can hold. */
function roundToFloat16(value: number): number {
  return decodeFloat16(encodeFloat16(value));
}
