/** Rows of 8 or 4 bits: each row is whole numbers times the row's own scale, chosen so that the row changes least. */
import { decodeFloat16, encodeFloat16 } from "../formats/floats/float16.ts";
import { forEachRow, rowOf, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";

export type Bits = 8 | 4;

export interface QuantizedRows {
  readonly bits: Bits;
  readonly rows: number;
  readonly dimensions: number;
  /** int8 [rows, dimensions]: -128 to 127, or -8 to 7. */
  readonly codes: Int8Array;
  /** One per row; for 4 bits each is exactly a float16. */
  readonly scales: Float32Array;
}

/** Largest codes below and above zero. */
const codeRange = { 8: { low: 128, high: 127 }, 4: { low: 8, high: 7 } } as const;
/** What the largest value of a row becomes, as a share of the range; above 1 it is cut, for finer steps. */
const scaleStretches: readonly number[] = Array.from({ length: 14 }, (_, index) => 0.85 + index * 0.05);
/** The largest value of a matrix in 4 bits: it keeps the scales of even the smallest rows within what a float16 can tell apart. */
const maxMatrixValue = 256;
const rowsPerSlice = 500;

/** For 4 bits the matrix as a whole is rescaled first, which changes no cosine. */
export async function quantizeRows(rows: Matrix, bits: Bits, signal?: AbortSignal): Promise<QuantizedRows> {
  const { low, high } = codeRange[bits];
  const codes = new Int8Array(rows.data.length);
  const scales = new Float32Array(rows.rows);
  const largest = rows.data.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const factor = bits === 4 && largest > 0 ? maxMatrixValue / largest : 1;
  const storable = bits === 4 ? roundToFloat16 : Math.fround;
  const values = new Float64Array(rows.columns);
  await forEachRow(rows.rows, rowsPerSlice, signal, (row) => {
    for (const [i, value] of rowOf(rows, row).entries()) values[i] = value * factor;
    const scale = bestScale(values, low, high, storable);
    scales[row] = scale;
    if (scale === 0) return;
    for (const [i, value] of values.entries()) codes[row * rows.columns + i] = codeOf(value * (1 / scale), low, high);
  });
  return { bits, rows: rows.rows, dimensions: rows.columns, codes, scales };
}

/** What the stored numbers stand for. */
export function dequantizeRows({ rows, dimensions, codes, scales }: QuantizedRows): Matrix {
  const matrix = zeroMatrix(rows, dimensions);
  for (let at = 0; at < codes.length; at++) matrix.data[at] = (codes[at] ?? 0) * (scales[Math.floor(at / dimensions)] ?? 0);
  return matrix;
}

/** Two 4-bit codes in a byte, the first in the low bits, each plus 8: uint8 [rows, dimensions / 2]. */
export function packNibbles(codes: Int8Array): Uint8Array {
  const packed = new Uint8Array(codes.length / 2);
  for (let at = 0; at < packed.length; at++) packed[at] = ((codes[2 * at] ?? 0) + 8) | (((codes[2 * at + 1] ?? 0) + 8) << 4);
  return packed;
}

function codeOf(value: number, low: number, high: number): number {
  const rounded = Math.round(value);
  return rounded > high ? high : rounded < -low ? -low : rounded;
}

/**
 * The scale with the smallest squared error among a grid. Negative scales are tried as well: the range reaches one further below
 * zero than above, and so either end of a row can have that place.
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
        const difference = value - scale * codeOf(value * inverse, low, high);
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
