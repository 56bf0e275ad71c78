/** Matrix products of many vectors with many vectors, in plain JavaScript. */

/** Size of the register tile: 8 sums stay in registers while 6 values are loaded for 8 multiplications. */
const blockRows = 2;
const blockColumns = 4;

/**
 * Computes out[i, j] = a[i] . b[j] for `a` [rows, length] and `b` [columns, length]. Elements are float64, because V8 converts every float32 that it loads. `rows` must be a
 * multiple of 2, `columns` of 4. With `symmetric`, for equal `a` and `b`, only the upper triangle is computed and mirrored.
 */
export function dotProducts(
  a: Float64Array,
  b: Float64Array,
  out: Float64Array,
  size: { readonly rows: number; readonly columns: number; readonly length: number },
  symmetric: boolean,
): void {
  const { rows, columns, length } = size;
  for (let i = 0; i < rows; i += blockRows) {
    const first = symmetric ? i - (i % blockColumns) : 0;
    for (let j = first; j < columns; j += blockColumns) dotBlock(a, b, out, i, j, columns, length);
  }
  if (!symmetric) return;
  for (let i = 1; i < rows; i++) for (let j = 0; j < i; j++) out[i * columns + j] = out[j * columns + i] ?? 0;
}

function dotBlock(
  a: Float64Array,
  b: Float64Array,
  out: Float64Array,
  i: number,
  j: number,
  columns: number,
  length: number,
): void {
  const a0 = i * length;
  const a1 = a0 + length;
  const b0 = j * length;
  const b1 = b0 + length;
  const b2 = b1 + length;
  const b3 = b2 + length;
  let s00 = 0;
  let s01 = 0;
  let s02 = 0;
  let s03 = 0;
  let s10 = 0;
  let s11 = 0;
  let s12 = 0;
  let s13 = 0;
  for (let k = 0; k < length; k++) {
    const x0 = a[a0 + k] ?? 0;
    const x1 = a[a1 + k] ?? 0;
    const y0 = b[b0 + k] ?? 0;
    const y1 = b[b1 + k] ?? 0;
    const y2 = b[b2 + k] ?? 0;
    const y3 = b[b3 + k] ?? 0;
    s00 += x0 * y0;
    s01 += x0 * y1;
    s02 += x0 * y2;
    s03 += x0 * y3;
    s10 += x1 * y0;
    s11 += x1 * y1;
    s12 += x1 * y2;
    s13 += x1 * y3;
  }
  const top = i * columns + j;
  const bottom = top + columns;
  out[top] = s00;
  out[top + 1] = s01;
  out[top + 2] = s02;
  out[top + 3] = s03;
  out[bottom] = s10;
  out[bottom + 1] = s11;
  out[bottom + 2] = s12;
  out[bottom + 3] = s13;
}
