/** Matrices with one vector per row. */
import { setImmediate } from "node:timers/promises";
import { throwIfAborted } from "../contract/errors.ts";

/** A row-major float32 matrix. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** float32 [rows, columns]. */
  readonly data: Float32Array;
}

/** Allocates a matrix of zeros. */
export function zeroMatrix(rows: number, columns: number): Matrix {
  return { rows, columns, data: new Float32Array(rows * columns) };
}

/** A view of one row of the matrix, not a copy. `row` counts from 0. */
export function getRow(matrix: Matrix, row: number): Float32Array {
  return matrix.data.subarray(row * matrix.columns, (row + 1) * matrix.columns);
}

/** Euclidean length of a vector. */
export function computeNorm(vector: Float32Array | Float64Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** A new vector of the same direction with Euclidean length 1. A vector of zeros stays zero. */
export function toUnitLength(vector: Float32Array): Float32Array {
  const length = computeNorm(vector);
  return length === 0 ? vector.slice() : vector.map((value) => value / length);
}

/** Calls `work` for every index below `count`, and yields to the event loop after every `rowsPerSlice` calls. Throws ABORTED. */
export async function forEachRow(
  count: number,
  rowsPerSlice: number,
  signal: AbortSignal | undefined,
  work: (row: number) => void,
): Promise<void> {
  for (let start = 0; start < count; start += rowsPerSlice) {
    throwIfAborted(signal);
    for (let row = start; row < Math.min(start + rowsPerSlice, count); row++) work(row);
    await setImmediate();
  }
}
