/** Determinants of square matrices. */
import { required } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import type { One } from "./operands.ts";

/** Determinants of the matrices in the last two axes, by Gaussian elimination with partial pivoting, in float64. */
export function determinants([x]: One): readonly Literal[] {
  const size = required(x.shape.at(-1), "the last axis");
  const shape = x.shape.slice(0, -2);
  const values = Float64Array.from(toNumbers(x));
  const results = Float64Array.from({ length: elementCount(shape) }, (_, index) =>
    determinant(values.subarray(index * size * size, (index + 1) * size * size), size),
  );
  return [toLiteral(x.dataType, shape, results)];
}

/** The determinant of a row-major matrix, which is overwritten. */
function determinant(matrix: Float64Array, size: number): number {
  let product = 1;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1)
      if (Math.abs(matrix[row * size + column] as number) > Math.abs(matrix[pivot * size + column] as number)) pivot = row;
    const top = matrix[pivot * size + column] as number;
    if (top === 0) return 0;
    if (pivot !== column) {
      for (let index = 0; index < size; index += 1) {
        const saved = matrix[column * size + index] as number;
        matrix[column * size + index] = matrix[pivot * size + index] as number;
        matrix[pivot * size + index] = saved;
      }
      product = -product;
    }
    product *= top;
    for (let row = column + 1; row < size; row += 1) {
      const factor = (matrix[row * size + column] as number) / top;
      for (let index = column; index < size; index += 1)
        matrix[row * size + index] = (matrix[row * size + index] as number) - factor * (matrix[column * size + index] as number);
    }
  }
  return product;
}
