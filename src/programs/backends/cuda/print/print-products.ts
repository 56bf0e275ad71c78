/** Matrix products: calls of cuBLAS where their matrices fit it, else a tiled kernel. */
import { at } from "../../../../contract/checked.ts";
import { elementCount } from "../../../../contract/tensor.ts";
import { broadcastShape, contiguousStrides, elementOffsets } from "../../../../engine/ir/broadcast.ts";
import type { NodeOf, Value } from "../../../../engine/ir/graph.ts";
import { literal, loaded, storable, sumType } from "./c-types.ts";
import { offsetCode } from "./index-code.ts";
import { printEpilogue } from "./print-elements.ts";
import type { ProductMatrix, ProgramText } from "./program-text.ts";

/** A stack of matrices in a tensor: strides in elements of each axis, of which the last two are rows and columns. */
interface Matrices {
  readonly value: Value;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** Types that cuBLAS multiplies. */
const cublasTypes: ReadonlySet<string> = new Set(["float32", "float64", "float16", "bfloat16"]);
/** Steps along the common axis that one tile holds. */
const tileDepth = 16;

function permuted(value: Value, permutation: readonly number[]): Matrices {
  const { shape } = value.type;
  const strides = contiguousStrides(shape);
  return { value, shape: permutation.map((axis) => at(shape, axis)), strides: permutation.map((axis) => at(strides, axis)) };
}

function asStored(value: Value): Matrices {
  return permuted(value, [...value.type.shape.keys()]);
}

/** Prints `matmul`, `fused-matmul` and `linear`. */
export function printProduct(
  text: ProgramText,
  { operation, inputs, outputs }: NodeOf<"matmul" | "fused-matmul" | "linear">,
): void {
  const [a, b, y] = [at(inputs, 0), at(inputs, 1), at(outputs, 0)];
  if (operation.kind === "fused-matmul") {
    const shape = y.type.shape;
    const own = contiguousStrides(shape);
    const axes = shape.map((_, axis) => operation.result.indexOf(axis));
    const result = { value: y, shape: axes.map((axis) => at(shape, axis)), strides: axes.map((axis) => at(own, axis)) };
    printMatrices(text, permuted(a, operation.a), permuted(b, operation.b), result, operation.alpha);
    return;
  }
  printMatrices(text, asStored(a), asStored(b), asStored(y), 1);
  if (operation.kind === "linear") printEpilogue(text, operation, inputs.slice(2), y);
}

/** Strides of the leading axes of matrices, broadcast to `batch`. */
function batchStrides({ shape, strides }: Matrices, batch: readonly number[]): readonly number[] {
  const own = shape.length - 2;
  return batch.map((size, axis) => {
    const source = axis - batch.length + own;
    return source < 0 || (at(shape, source) === 1 && size !== 1) ? 0 : at(strides, source);
  });
}

function printMatrices(text: ProgramText, a: Matrices, b: Matrices, y: Matrices, alpha: number): void {
  const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const [rows, inner, columns] = [a.shape.at(-2) ?? 0, a.shape.at(-1) ?? 0, b.shape.at(-1) ?? 0];
  const sizes = { rows, inner, columns };
  if (text.hasCublas && alpha === 1 && callCublas(text, [a, b, y], batch, sizes)) return;
  printTiles(text, [a, b, y], batch, { ...sizes, alpha });
}

interface Sizes {
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
}

/** Adds a call of cuBLAS. Returns false if the matrices are not such as it takes: one stride is 1, and batches are as far apart as one another. */
function callCublas(
  text: ProgramText,
  matrices: readonly [Matrices, Matrices, Matrices],
  batch: readonly number[],
  sizes: Sizes,
): boolean {
  const { dataType } = matrices[0].value.type;
  const count = elementCount(batch);
  if (!cublasTypes.has(dataType) || count * sizes.rows * sizes.inner * sizes.columns === 0 || count > 65_535) return false;
  const found: ProductMatrix[] = [];
  for (const matrix of matrices) {
    const offsets = elementOffsets(batch, batchStrides(matrix, batch));
    const batchStride = offsets[1] ?? 0;
    if (offsets.some((offset, index) => offset !== index * batchStride)) return false;
    const [rowStride, columnStride] = [matrix.strides.at(-2) ?? 1, matrix.strides.at(-1) ?? 1];
    if (rowStride !== 1 && columnStride !== 1) return false;
    found.push({ value: matrix.value, offset: 0, rowStride, columnStride, batchStride });
  }
  const [a, b, result] = [at(found, 0), at(found, 1), at(found, 2)];
  if (result.columnStride !== 1) return false;
  // Rows of a batch that have one second operand are rows of one product.
  const isOne =
    count > 1 &&
    b.batchStride === 0 &&
    [a, result].every((each) => each.columnStride === 1 && each.batchStride === each.rowStride * sizes.rows);
  const folded = isOne ? { ...sizes, rows: sizes.rows * count, count: 1 } : { ...sizes, count };
  text.steps.push({ kind: "product", dataType, ...folded, a, b, result });
  return true;
}

/** Prints a kernel that computes tiles of the product: a block reads the parts of both operands into shared memory, and each thread sums up to 4 x 4 elements. */
function printTiles(
  text: ProgramText,
  [a, b, y]: readonly [Matrices, Matrices, Matrices],
  batch: readonly number[],
  { rows, inner, columns, alpha }: Sizes & { readonly alpha: number },
): void {
  const { dataType } = y.value.type;
  const type = sumType(dataType);
  const [height, width] = [rows > 16 ? 64 : 16, columns > 16 ? 64 : 16];
  const [down, across] = [height / 16, width / 16];
  const [tileRows, tileColumns] = [Math.ceil(rows / height), Math.ceil(columns / width)];
  const offset = (matrix: Matrices): string => offsetCode("batch", batch, batchStrides(matrix, batch));
  const element = (matrix: Matrices, row: string, column: string): string =>
    `(${row}) * ${matrix.strides.at(-2) ?? 0} + (${column}) * ${matrix.strides.at(-1) ?? 0}`;
  // Neighbouring threads read neighbouring elements.
  const split = (isInnerFirst: boolean, other: string, size: number): string =>
    isInnerFirst
      ? `const int k = e % ${tileDepth}, ${other} = e / ${tileDepth};`
      : `const int ${other} = e % ${size}, k = e / ${size};`;
  const read = (matrix: Matrices, name: string, where: string): string =>
    `(${type})${loaded(matrix.value.type.dataType, `${name}[${name}_start + ${where}]`)}`;
  const scaled = alpha === 1 ? "sums[r][c]" : `sums[r][c] * ${literal(dataType, alpha)}`;
  const body = [
    `__shared__ ${type} left[${tileDepth}][${height}];`,
    `__shared__ ${type} right[${tileDepth}][${width}];`,
    `const int batch = row / ${tileRows * tileColumns}, tile = row % ${tileRows * tileColumns};`,
    `const int first_row = tile / ${tileColumns} * ${height}, first_column = tile % ${tileColumns} * ${width};`,
    `const int a_start = ${offset(a)}, b_start = ${offset(b)}, y_start = ${offset(y)};`,
    `const int down = lane / 16, across = lane % 16;`,
    `${type} sums[${down}][${across}];`,
    `for (int r = 0; r < ${down}; r += 1) for (int c = 0; c < ${across}; c += 1) sums[r][c] = 0;`,
    `for (int from = 0; from < ${inner}; from += ${tileDepth}) {`,
    `  for (int e = lane; e < ${tileDepth * height}; e += 256) {`,
    `    ${split(a.strides.at(-1) === 1, "m", height)}`,
    `    left[k][m] = from + k < ${inner} && first_row + m < ${rows} ? ${read(a, "a", element(a, "first_row + m", "from + k"))} : (${type})0;`,
    "  }",
    `  for (int e = lane; e < ${tileDepth * width}; e += 256) {`,
    `    ${split(b.strides.at(-1) !== 1, "n", width)}`,
    `    right[k][n] = from + k < ${inner} && first_column + n < ${columns} ? ${read(b, "b", element(b, "from + k", "first_column + n"))} : (${type})0;`,
    "  }",
    "  __syncthreads();",
    `  for (int k = 0; k < ${tileDepth}; k += 1)`,
    `    for (int r = 0; r < ${down}; r += 1)`,
    `      for (int c = 0; c < ${across}; c += 1) sums[r][c] += left[k][down + 16 * r] * right[k][across + 16 * c];`,
    "  __syncthreads();",
    "}",
    `for (int r = 0; r < ${down}; r += 1) for (int c = 0; c < ${across}; c += 1) {`,
    "  const int m = first_row + down + 16 * r, n = first_column + across + 16 * c;",
    `  if (m < ${rows} && n < ${columns}) y[y_start + ${element(y, "m", "n")}] = ${storable(dataType, scaled)};`,
    "}",
  ];
  const count = elementCount(batch) * tileRows * tileColumns;
  const reads = [
    { value: a.value, name: "a" },
    { value: b.value, name: "b" },
  ];
  text.rows(count, 256, reads, [{ value: y.value, name: "y" }], body);
}
