import { elementCount } from "../../tensor.ts";
import { type Literal, literalOf, numbersOf } from "../ir/literal.ts";

/** Of the matrices in the last two axes, by elimination with the largest pivot of each column. */
export function determinants([x]: readonly Literal[]): readonly Literal[] {
  if (x === undefined) throw new Error("it lacks its operand");
  const size = x.shape.at(-1) ?? 0;
  const shape = x.shape.slice(0, -2);
  const values = Float64Array.from(numbersOf(x));
  const results = Float64Array.from({ length: elementCount(shape) }, (_, index) =>
    determinant(values.subarray(index * size * size, (index + 1) * size * size), size),
  );
  return [literalOf(x.dataType, shape, results)];
}

/** Overwrites the matrix. */
function determinant(matrix: Float64Array, size: number): number {
  let product = 1;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1)
      if (Math.abs(matrix[row * size + column] ?? 0) > Math.abs(matrix[pivot * size + column] ?? 0)) pivot = row;
    const top = matrix[pivot * size + column] ?? 0;
    if (top === 0) return 0;
    if (pivot !== column) {
      for (let at = 0; at < size; at += 1) {
        const held = matrix[column * size + at] ?? 0;
        matrix[column * size + at] = matrix[pivot * size + at] ?? 0;
        matrix[pivot * size + at] = held;
      }
      product = -product;
    }
    product *= top;
    for (let row = column + 1; row < size; row += 1) {
      const factor = (matrix[row * size + column] ?? 0) / top;
      for (let at = column; at < size; at += 1)
        matrix[row * size + at] = (matrix[row * size + at] ?? 0) - factor * (matrix[column * size + at] ?? 0);
    }
  }
  return product;
}
