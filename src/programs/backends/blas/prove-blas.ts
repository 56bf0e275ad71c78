/** Proof that a library computes matrix products right: in a child process at first, then in this one. */
import { InferyardError } from "../../../contract/errors.ts";
import { ForeignFunctions } from "../../../libraries/ffi/index.ts";
import { proveLoads } from "../../../libraries/validation/first-load.ts";
import { type BlasElements, BlasLibrary, type BlasMatrix, type ProductSizes } from "./blas-library.ts";

/** Small ones, odd ones, and one that is larger than the blocks which libraries compute at a time. */
const provedSizes: readonly ProductSizes[] = [
  { rows: 1, inner: 1, columns: 1 },
  { rows: 1, inner: 37, columns: 19 },
  { rows: 5, inner: 7, columns: 1 },
  { rows: 6, inner: 1, columns: 5 },
  { rows: 67, inner: 131, columns: 73 },
];

/**
 * Opens a library whose products are right. At first a child process loads it and computes, so that one that crashes does not end this process; files that passed are
 * remembered. Throws LIBRARY_INCOMPATIBLE and LOAD_FAILED as `proveLoads` does, and VERIFICATION_FAILED for wrong products.
 */
export async function openProvedBlas(path: string, threads: number): Promise<BlasLibrary> {
  const child = { program: new URL("./prove-blas-child.ts", import.meta.url), tests: "matrix products of native libraries" };
  await proveLoads([path], { child });
  const library = BlasLibrary.open(await ForeignFunctions.load(), path);
  proveProducts(library, threads);
  return library;
}

/** Compares products of whole numbers, which floats hold exactly, with the products that JavaScript computes. Throws VERIFICATION_FAILED if one differs. */
export function proveProducts(library: BlasLibrary, threads: number): void {
  for (const dataType of ["float32", "float64"] as const) {
    if (!library.supports(dataType)) continue;
    const create = (length: number): BlasElements =>
      dataType === "float32" ? new Float32Array(length) : new Float64Array(length);
    for (const sizes of provedSizes) {
      for (const [turnsA, turnsB] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        const a = countedMatrix(create, sizes.rows, sizes.inner, turnsA);
        const b = countedMatrix(create, sizes.inner, sizes.columns, turnsB);
        const count = sizes.rows * sizes.columns;
        const into = create(count + 1);
        library.multiply(dataType, [a, b], into, { ...sizes, threads });
        const index = expectedProduct(a, b, sizes).findIndex((value, element) => value !== into[element]);
        if (index < 0 && into[count] === 0) continue;
        const what = `a product of ${dataType}[${sizes.rows},${sizes.inner}] and [${sizes.inner},${sizes.columns}]`;
        const fault = index < 0 ? "writes beyond its end" : `has ${into[index]} at element ${index}, which is wrong`;
        throw new InferyardError("VERIFICATION_FAILED", `${what} by ${library.path} ${fault}`, {
          remedy: "use another build of the library",
          data: { path: library.path },
        });
      }
    }
  }
}

/** Whole numbers from -6 to 6 in a matrix with a gap of three elements after each row (or column). */
function countedMatrix(
  create: (length: number) => BlasElements,
  rows: number,
  columns: number,
  isTransposed: boolean,
): BlasMatrix {
  const stride = (isTransposed ? rows : columns) + 3;
  const data = create(stride * (isTransposed ? columns : rows));
  for (let index = 0; index < data.length; index += 1) data[index] = ((index * 7 + rows) % 13) - 6;
  return { data, isTransposed, stride };
}

function expectedProduct(a: BlasMatrix, b: BlasMatrix, { rows, inner, columns }: ProductSizes): readonly number[] {
  const read = ({ data, isTransposed, stride }: BlasMatrix, row: number, column: number): number =>
    data[isTransposed ? column * stride + row : row * stride + column] ?? 0;
  return Array.from({ length: rows * columns }, (_, element) => {
    let sum = 0;
    for (let k = 0; k < inner; k += 1) sum += read(a, Math.floor(element / columns), k) * read(b, k, element % columns);
    return sum;
  });
}
