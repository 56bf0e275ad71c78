/** cuBLAS: matrix products on the GPU of the current context. */
import { InferyardError } from "../../../contract/errors.ts";
import type { NativeLibrary } from "../../../libraries/ffi/index.ts";
import { cType } from "./print/c-types.ts";
import type { ProductCall, ProductMatrix } from "./print/program-text.ts";

/** By type of elements: its number in cudaDataType_t, and the number of the type of sums in cublasComputeType_t (32 or 64 bits). */
const types: Readonly<Record<string, readonly [data: number, compute: number]>> = {
  float32: [0, 68],
  float64: [1, 70],
  float16: [2, 68],
  bfloat16: [14, 68],
};
/** CUBLAS_GEMM_DEFAULT. */
const defaultAlgorithm = -1;

const scalars = { one: [Float32Array.of(1), Float64Array.of(1)], zero: [Float32Array.of(0), Float64Array.of(0)] } as const;

/** An open handle. It computes in the default stream, in the order of launches. */
export class Cublas {
  readonly version: string;
  readonly #handle: bigint;
  readonly #multiply: (...inputs: Parameters<ReturnType<typeof bindProduct>>) => number;
  readonly #destroy: (handle: bigint) => number;

  /** The context must be current. Throws LIBRARY_INCOMPATIBLE for another library, and BACKEND_UNAVAILABLE if it does not start. */
  constructor(library: NativeLibrary) {
    const create = library.bind("cublasCreate_v2", { result: "int32", parameters: ["pointer"] });
    const version = library.bind("cublasGetVersion_v2", { result: "int32", parameters: ["pointer", "pointer"] });
    this.#destroy = library.bind("cublasDestroy_v2", { result: "int32", parameters: ["pointer"] });
    this.#multiply = bindProduct(library);
    const handle = new BigUint64Array(1);
    const result = create(handle);
    if (result !== 0) throw new InferyardError("BACKEND_UNAVAILABLE", `cublasCreate: status ${result}`);
    this.#handle = handle[0] ?? 0n;
    const number = new Int32Array(1);
    version(this.#handle, number);
    const stated = number[0] ?? 0;
    this.version = `${Math.floor(stated / 10_000)}.${Math.floor((stated % 10_000) / 100)}.${stated % 100}`;
  }

  /** Computes products. `addressOf`: the address of a tensor's first element. Throws RUN_FAILED. */
  multiply(call: ProductCall, addressOf: (matrix: ProductMatrix) => bigint): void {
    const { a, b, result, rows, inner, columns, count, dataType } = call;
    const [data = 0, compute = 0] = types[dataType] ?? [];
    const kind = dataType === "float64" ? 1 : 0;
    const bytes = BigInt(cType(dataType).bytes);
    const place = (matrix: ProductMatrix): bigint => addressOf(matrix) + BigInt(matrix.offset) * bytes;
    // cuBLAS's matrices have contiguous columns: a row-major product is that of the transposed operands in the other order.
    const status = this.#multiply(
      this.#handle,
      ...([isTransposed(b), isTransposed(a), columns, rows, inner] as const),
      scalars.one[kind],
      ...([place(b), data, leading(b), b.batchStride] as const),
      ...([place(a), data, leading(a), a.batchStride] as const),
      scalars.zero[kind],
      ...([place(result), data, result.rowStride, result.batchStride] as const),
      count,
      compute,
      defaultAlgorithm,
    );
    if (status !== 0) throw new InferyardError("RUN_FAILED", `cublasGemmStridedBatchedEx: status ${status}`);
  }

  dispose(): void {
    this.#destroy(this.#handle);
  }
}

/** CUBLAS_OP_N for rows that are contiguous, CUBLAS_OP_T for columns. */
function isTransposed({ columnStride }: ProductMatrix): number {
  return columnStride === 1 ? 0 : 1;
}

function leading({ rowStride, columnStride }: ProductMatrix): number {
  return columnStride === 1 ? rowStride : columnStride;
}

function bindProduct(library: NativeLibrary) {
  const matrix = ["uint64", "int32", "int32", "int64"] as const;
  return library.bind("cublasGemmStridedBatchedEx", {
    result: "int32",
    parameters: [
      ...(["pointer", "int32", "int32", "int32", "int32", "int32", "pointer"] as const),
      ...matrix,
      ...matrix,
      "pointer",
      ...matrix,
      ...(["int32", "int32", "int32"] as const),
    ],
  });
}
