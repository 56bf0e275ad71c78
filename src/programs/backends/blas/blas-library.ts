/** A library with matrix products, opened in this process: its products, threads and version. */
import { InferyardError } from "../../../contract/errors.ts";
import type { Library } from "../../../contract/backend.ts";
import type { ForeignFunctions, NativeLibrary } from "../../../libraries/ffi/index.ts";
import { type BlasDescription, type BlasKind, blasDescriptions, otherBlas, symbolForms } from "./blas-kinds.ts";

/** Elements of matrices: the types that CBLAS has functions for. */
export type BlasElements = Float32Array | Float64Array;

/** A matrix in memory, from its first element on. */
export interface BlasMatrix {
  readonly data: BlasElements;
  /** Whether columns are contiguous; else rows are. */
  readonly isTransposed: boolean;
  /** Elements from the start of one row (or column, if transposed) to the next. */
  readonly stride: number;
}

/** The product of a [rows, inner] and a [inner, columns] matrix. */
export interface ProductSizes {
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
}

/** Computes a product into `into`, a contiguous row-major matrix, which it overwrites. */
type Multiply = (a: BlasMatrix, b: BlasMatrix, into: BlasElements, sizes: ProductSizes) => void;

/** CBLAS's constants for row-major matrices, and for operands as they are and transposed. */
const [rowMajor, asIs, transposed] = [101, 111, 112];

/** A library with matrix products. It stays loaded until the process ends, since its threads do. */
export class BlasLibrary {
  readonly path: string;
  readonly kind: BlasKind;
  readonly library: Library;
  /** Whether its threads are those of an OpenMP runtime. */
  readonly usesOpenMp: boolean;
  readonly #products: Readonly<Record<"float32" | "float64", Multiply | undefined>>;
  readonly #setThreads: (count: number) => void;

  private constructor(
    path: string,
    facts: Pick<BlasLibrary, "kind" | "library" | "usesOpenMp">,
    products: Readonly<Record<"float32" | "float64", Multiply | undefined>>,
    setThreads: (count: number) => void,
  ) {
    this.path = path;
    this.kind = facts.kind;
    this.library = facts.library;
    this.usesOpenMp = facts.usesOpenMp;
    this.#products = products;
    this.#setThreads = setThreads;
  }

  /** Opens a library by its absolute path. Throws LOAD_FAILED with the loader's words, and LIBRARY_INCOMPATIBLE if it has no matrix products. */
  static open(ffi: ForeignFunctions, path: string): BlasLibrary {
    const opened = ffi.open(path);
    const form = symbolForms.find(({ prefix, suffix }) => opened.has(`${prefix}cblas_sgemm${suffix}`));
    const nameOf = (symbol: string): string => `${form?.prefix ?? ""}${symbol}${form?.suffix ?? ""}`;
    const isKind = ({ symbol }: BlasDescription): boolean => opened.has(nameOf(symbol)) || opened.has(symbol);
    const description = blasDescriptions.find(isKind) ?? otherBlas;
    const { kind, setThreads } = description;
    if (form === undefined && kind !== "onednn")
      throw new InferyardError("LIBRARY_INCOMPATIBLE", `${path} has no function cblas_sgemm`, {
        data: { path, missing: ["cblas_sgemm"] },
      });
    const setter = setThreads && [nameOf(setThreads.symbol), setThreads.symbol].find((name) => opened.has(name));
    const set = setter && setThreads ? opened.bind(setter, { result: "void", parameters: [setThreads.type] }) : undefined;
    const cblas = (type: "float32" | "float64"): Multiply | undefined => {
      const symbol = nameOf(type === "float32" ? "cblas_sgemm" : "cblas_dgemm");
      return form === undefined || !opened.has(symbol) ? undefined : bindCblas(opened, symbol, type, form.integer);
    };
    const products = { float32: form === undefined ? bindOneDnn(opened) : cblas("float32"), float64: cblas("float64") };
    const facts = {
      kind,
      library: { name: description.displayName, version: readVersion(ffi, opened, kind, nameOf) },
      usesOpenMp: usesOpenMp(opened, kind, nameOf),
    };
    return new BlasLibrary(path, facts, products, (count) => set?.(count));
  }

  /** Whether it multiplies matrices of this type. */
  supports(dataType: string): dataType is "float32" | "float64" {
    return (dataType === "float32" || dataType === "float64") && this.#products[dataType] !== undefined;
  }

  /** Multiplies on up to `threads` threads. `into` is a contiguous row-major matrix of zeros. Both operands and `into` have the type `dataType`. */
  multiply(
    dataType: "float32" | "float64",
    [a, b]: readonly [BlasMatrix, BlasMatrix],
    into: BlasElements,
    { threads, ...sizes }: ProductSizes & { readonly threads: number },
  ): void {
    this.#setThreads(threads); // each time: others in this process may have set it, and OpenMP keeps it for each thread
    const multiply = this.#products[dataType];
    if (multiply === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `${this.path} has no products of ${dataType}`);
    multiply(a, b, into, sizes);
  }
}

/** CBLAS's product. One row or column is multiplied by the function for vectors, where the library has it: it reads the matrix once, without packing it. */
function bindCblas(library: NativeLibrary, symbol: string, scalar: "float32" | "float64", integer: "int32" | "int64"): Multiply {
  const matrices = [scalar, "pointer", integer, "pointer", integer, scalar, "pointer", integer] as const;
  const sizesOf3 = [integer, integer, integer] as const;
  const product = library.bind(symbol, { result: "void", parameters: ["int32", "int32", "int32", ...sizesOf3, ...matrices] });
  const ofVector = symbol.replace("gemm", "gemv");
  const byVector = library.has(ofVector)
    ? library.bind(ofVector, { result: "void", parameters: ["int32", "int32", integer, integer, ...matrices] })
    : undefined;
  const order = (isTransposed: boolean): number => (isTransposed ? transposed : asIs);
  return (a, b, into, { rows, inner, columns }) => {
    if (byVector === undefined || (rows > 1 && columns > 1)) {
      const orders = [order(a.isTransposed), order(b.isTransposed)] as const;
      product(rowMajor, ...orders, rows, columns, inner, 1, a.data, a.stride, b.data, b.stride, 0, into, columns);
      return;
    }
    // A row times B is the transpose of B times that row as a column. CBLAS takes the matrix as it is stored, and whether to transpose it.
    const [matrix, vector, isRow] = columns === 1 ? [a, b, false] : [b, a, true];
    const [from, to] = isRow ? [inner, columns] : [rows, inner];
    const stored = matrix.isTransposed ? ([to, from] as const) : ([from, to] as const);
    const step = vector.isTransposed === isRow ? vector.stride : 1;
    byVector(
      rowMajor,
      order(matrix.isTransposed !== isRow),
      ...stored,
      1,
      matrix.data,
      matrix.stride,
      vector.data,
      step,
      0,
      into,
      1,
    );
  };
}

/** oneDNN's product of row-major matrices. */
function bindOneDnn(library: NativeLibrary): Multiply {
  const matrices = ["float32", "pointer", "int64", "pointer", "int64", "float32", "pointer", "int64"] as const;
  const product = library.bind("dnnl_sgemm", {
    result: "int32",
    parameters: ["int8", "int8", "int64", "int64", "int64", ...matrices],
  });
  const order = (matrix: BlasMatrix): number => (matrix.isTransposed ? "T" : "N").charCodeAt(0);
  return (a, b, into, { rows, inner, columns }) => {
    const status = product(order(a), order(b), rows, columns, inner, 1, a.data, a.stride, b.data, b.stride, 0, into, columns);
    if (status !== 0) throw new InferyardError("RUN_FAILED", `dnnl_sgemm returned the status ${status}`);
  };
}

type NameOf = (symbol: string) => string;

function readVersion(ffi: ForeignFunctions, library: NativeLibrary, kind: BlasKind, nameOf: NameOf): string {
  const text = (): string => {
    if (kind === "openblas") return library.bind(nameOf("openblas_get_config"), { result: "string", parameters: [] })() ?? "";
    if (kind === "blis") return library.bind("bli_info_get_version_str", { result: "string", parameters: [] })() ?? "";
    if (kind === "mkl") {
      const bytes = new Uint8Array(200);
      library.bind("MKL_Get_Version_String", { result: "void", parameters: ["pointer", "int32"] })(bytes, bytes.length);
      return Buffer.from(bytes).toString("latin1");
    }
    if (kind !== "onednn" || !library.has("dnnl_version")) return "";
    const address = library.bind("dnnl_version", { result: "pointer", parameters: [] })();
    return new Int32Array(ffi.bytesAt(address, 12).buffer).join(".");
  };
  return /\d+(?:\.\d+)+/.exec(text())?.[0] ?? "unknown";
}

function usesOpenMp(library: NativeLibrary, kind: BlasKind, nameOf: NameOf): boolean {
  if (kind === "onednn") return library.has("omp_set_num_threads");
  // MKL's threads are those of Intel's OpenMP, unless this variable says otherwise.
  if (kind === "mkl") return !/^(?:sequential|tbb)$/i.test(process.env["MKL_THREADING_LAYER"] ?? "");
  const [symbol, value] =
    kind === "openblas" ? [nameOf("openblas_get_parallel"), 2] : [kind === "blis" ? "bli_info_get_enable_openmp" : "", 1];
  return library.has(symbol) && library.bind(symbol, { result: "int32", parameters: [] })() === value;
}
