/** Perspective transforms of the plane: 3 x 3 matrices in row-major order, `(x, y, 1)` to `(x w, y w, w)`. */
import type { PixelPoint, Quadrilateral } from "./points.ts";

const size = 8;
/** Smallest pivot of the elimination. */
const smallestPivot = 2 ** -52 * 100;

/**
 * The transform that maps four points to four others, with 1 as its last element: `cv2.getPerspectiveTransform`. Undefined if three of the points lie on
 * one line.
 */
export function perspectiveTransform(from: Quadrilateral, to: Quadrilateral): Float64Array | undefined {
  const rows: Float64Array[] = [];
  for (const axis of [0, 1] as const)
    from.forEach(([x, y], index) => {
      const target = to[index]?.[axis] ?? 0;
      const row = new Float64Array(size + 1);
      row.set([x, y, 1], 3 * axis);
      row.set([-x * target, -y * target, target], 6);
      rows.push(row);
    });
  const solution = solve(rows);
  return solution && Float64Array.of(...solution, 1);
}

/** The inverse of a transform, by the adjugate matrix. Undefined if it has none. */
export function invertTransform(matrix: Float64Array): Float64Array | undefined {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = matrix;
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  if (determinant === 0) return undefined;
  const scale = 1 / determinant;
  return Float64Array.of(
    (e * i - f * h) * scale,
    (c * h - b * i) * scale,
    (b * f - c * e) * scale,
    (f * g - d * i) * scale,
    (a * i - c * g) * scale,
    (c * d - a * f) * scale,
    (d * h - e * g) * scale,
    (b * g - a * h) * scale,
    (a * e - b * d) * scale,
  );
}

/** Where a transform maps a point. */
export function transformPoint(matrix: Float64Array, [x, y]: PixelPoint): PixelPoint {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = matrix;
  const w = g * x + h * y + i;
  return [(a * x + b * y + c) / w, (d * x + e * y + f) / w];
}

/** Gaussian elimination with partial pivoting; the right-hand side is the last column. Undefined if the matrix is singular. */
function solve(rows: Float64Array[]): Float64Array | undefined {
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let pivot = 0; pivot < size; pivot++) {
    let largest = pivot;
    for (let row = pivot + 1; row < size; row++) if (Math.abs(at(row, pivot)) > Math.abs(at(largest, pivot))) largest = row;
    if (Math.abs(at(largest, pivot)) < smallestPivot) return undefined;
    [rows[pivot], rows[largest]] = [rows[largest] ?? new Float64Array(), rows[pivot] ?? new Float64Array()];
    const negated = -1 / at(pivot, pivot);
    for (const row of rows.slice(pivot + 1)) {
      const factor = (row[pivot] ?? 0) * negated;
      for (let column = pivot + 1; column <= size; column++) row[column] = (row[column] ?? 0) + factor * at(pivot, column);
    }
  }
  const solution = new Float64Array(size);
  for (let row = size - 1; row >= 0; row--) {
    let sum = at(row, size);
    for (let column = row + 1; column < size; column++) sum -= at(row, column) * (solution[column] ?? 0);
    solution[row] = sum / at(row, row);
  }
  return solution;
}
