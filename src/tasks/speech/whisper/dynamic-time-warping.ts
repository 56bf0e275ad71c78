/** Dynamic time warping (Sakoe and Chiba 1978): the cheapest monotonic path through a matrix of costs. */

/** Index pairs of a path, in order. */
export interface WarpingPath {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
}

/** Steps of a path: to the next row and column, to the next row, to the next column. */
const [diagonal, down, right] = [0, 1, 2] as const;

/** The path from the first to the last element of costs [rows, columns] whose sum is least. Of equal steps along the columns is preferred. */
export function dynamicTimeWarping(costs: Float32Array, rows: number, columns: number): WarpingPath {
  const width = columns + 1;
  const sums = new Float32Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const steps = new Uint8Array((rows + 1) * width).fill(down);
  sums[0] = 0;
  steps.fill(right, 0, width);
  const sumAt = (index: number): number => sums[index] ?? Number.POSITIVE_INFINITY;
  for (let column = 1; column <= columns; column += 1) {
    for (let row = 1; row <= rows; row += 1) {
      const index = row * width + column;
      const [both, above, before] = [sumAt(index - width - 1), sumAt(index - width), sumAt(index - 1)];
      const step = both < above && both < before ? diagonal : above < both && above < before ? down : right;
      steps[index] = step;
      sums[index] = (costs[(row - 1) * columns + column - 1] ?? 0) + (step === diagonal ? both : step === down ? above : before);
    }
  }
  const path: { readonly row: number; readonly column: number }[] = [];
  let [row, column] = [rows, columns];
  while (row > 0 || column > 0) {
    path.push({ row: row - 1, column: column - 1 });
    const step = steps[row * width + column];
    if (step !== right) row -= 1;
    if (step !== down) column -= 1;
  }
  path.reverse();
  return { rows: path.map((each) => each.row), columns: path.map((each) => each.column) };
}
