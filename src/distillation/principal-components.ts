/** Dimensionality reduction by principal component analysis. */
import { setImmediate } from "node:timers/promises";
import { EVD, Matrix as DenseMatrix } from "ml-matrix";
import { throwIfAborted } from "../contract/errors.ts";
import { dotProducts } from "./dot-products.ts";
import { getRow, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";

/** Vectors projected on their principal components (PCA). */
export interface Projection {
  /** The centered vectors in the new basis, [rows, count]. Rows that were not included are zeros. */
  readonly projected: Matrix;
  /** Share of the variance that the components keep, 0 to 1. */
  readonly explainedVariance: number;
}

/** Rows processed between two yields to the event loop: about 50 million multiplications, or 40 ms. */
const rowsPerSlice = 512;

/**
 * Projects the rows for which `include` is 1 on the first `count` principal components of these rows. `count` must be a multiple
 * of 4. Throws ABORTED.
 */
export async function principalComponents(
  vectors: Matrix,
  include: Uint8Array,
  count: number,
  signal?: AbortSignal,
): Promise<Projection> {
  const included: number[] = [];
  for (const [row, flag] of include.entries()) if (flag === 1) included.push(row);
  const centred = centredCopy(vectors, included);
  const { values, components } = principalDirections(await covariance(centred, signal));
  const projected = zeroMatrix(vectors.rows, count);
  const slice = new Float64Array(rowsPerSlice * centred.columns);
  const products = new Float64Array(rowsPerSlice * count);
  for (let start = 0; start < centred.rows; start += rowsPerSlice) {
    throwIfAborted(signal);
    slice.fill(0);
    slice.set(centred.data.subarray(start * centred.columns, (start + rowsPerSlice) * centred.columns));
    const size = { rows: rowsPerSlice, columns: count, length: centred.columns };
    dotProducts(slice, components.subarray(0, count * centred.columns), products, size, false);
    for (const [i, row] of included.slice(start, start + rowsPerSlice).entries()) {
      getRow(projected, row).set(products.subarray(i * count, (i + 1) * count));
    }
    await setImmediate();
  }
  const kept = values.slice(0, count).reduce((sum, value) => sum + value, 0);
  const all = values.reduce((sum, value) => sum + value, 0);
  return { projected, explainedVariance: all === 0 ? 1 : kept / all };
}

/** The included rows minus their mean, padded with columns of zeros to a multiple of 4. */
function centredCopy(vectors: Matrix, included: readonly number[]): Matrix {
  const { columns } = vectors;
  const mean = new Float64Array(columns);
  for (const row of included) {
    const start = row * columns;
    for (let i = 0; i < columns; i++) mean[i] = (mean[i] ?? 0) + (vectors.data[start + i] ?? 0) / included.length;
  }
  const copy = zeroMatrix(included.length, Math.ceil(columns / 4) * 4);
  for (const [index, row] of included.entries()) {
    const start = row * columns;
    const target = index * copy.columns;
    for (let i = 0; i < columns; i++) copy.data[target + i] = (vectors.data[start + i] ?? 0) - (mean[i] ?? 0);
  }
  return copy;
}

async function covariance(centred: Matrix, signal?: AbortSignal): Promise<DenseMatrix> {
  const { rows, columns, data } = centred;
  const sums = new Float64Array(columns * columns);
  const products = new Float64Array(columns * columns);
  const transposed = new Float64Array(columns * rowsPerSlice);
  for (let start = 0; start < rows; start += rowsPerSlice) {
    throwIfAborted(signal);
    const count = Math.min(rowsPerSlice, rows - start);
    transposed.fill(0);
    for (let row = 0; row < count; row++) {
      for (let i = 0; i < columns; i++) transposed[i * rowsPerSlice + row] = data[(start + row) * columns + i] ?? 0;
    }
    dotProducts(transposed, transposed, products, { rows: columns, columns, length: rowsPerSlice }, true);
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] ?? 0) + (products[i] ?? 0);
    await setImmediate();
  }
  const divisor = Math.max(1, rows - 1);
  const matrix = DenseMatrix.zeros(columns, columns);
  for (const [index, sum] of sums.entries()) matrix.set(Math.floor(index / columns), index % columns, sum / divisor);
  return matrix;
}

/** Eigenvalues in descending order, and their eigenvectors as rows. */
function principalDirections(symmetric: DenseMatrix): { values: number[]; components: Float64Array } {
  const { realEigenvalues, eigenvectorMatrix } = new EVD(symmetric, { assumeSymmetric: true });
  const order = realEigenvalues.map((value, index) => ({ value: Math.max(0, value), index })).sort((a, b) => b.value - a.value);
  const size = order.length;
  const components = new Float64Array(size * size);
  for (const [row, { index }] of order.entries()) components.set(eigenvectorMatrix.getColumn(index), row * size);
  return { values: order.map(({ value }) => value), components };
}
