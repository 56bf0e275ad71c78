/** The libraries with matrix products that the backend `blas` knows, and the symbols by which each is recognized and set. */

/** A library by its maker; "cblas": any other library with CBLAS's functions. */
export type BlasKind = "mkl" | "openblas" | "blis" | "onednn" | "cblas";

/** How one kind of library is recognized and set. */
export interface BlasDescription {
  readonly kind: BlasKind;
  readonly displayName: string;
  /** Names of its files, as found on Linux, macOS and Windows, in small letters. */
  readonly fileName: RegExp;
  /** A symbol, without prefix and suffix, that only this kind has. */
  readonly symbol: string;
  /** The function that sets the number of threads, without prefix and suffix, and the type of its argument. */
  readonly setThreads: { readonly symbol: string; readonly type: "int32" | "int64" } | undefined;
}

/** In the order in which files of one folder are tried. */
export const blasDescriptions: readonly BlasDescription[] = [
  {
    kind: "mkl",
    displayName: "Intel MKL",
    fileName: /^(?:lib)?mkl_rt\b/,
    symbol: "MKL_Get_Version_String",
    setThreads: { symbol: "MKL_Set_Num_Threads", type: "int32" },
  },
  {
    kind: "openblas",
    displayName: "OpenBLAS",
    fileName: /^(?:lib)?(?:scipy_)?openblas/,
    symbol: "openblas_get_config",
    setThreads: { symbol: "openblas_set_num_threads", type: "int32" },
  },
  {
    kind: "blis",
    displayName: "BLIS",
    fileName: /^(?:lib)?(?:aocl-)?blis\b/,
    symbol: "bli_info_get_version_str",
    setThreads: { symbol: "bli_thread_set_num_threads", type: "int64" },
  },
  {
    kind: "onednn",
    displayName: "oneDNN",
    fileName: /^(?:lib)?dnnl\b/,
    symbol: "dnnl_sgemm",
    setThreads: { symbol: "omp_set_num_threads", type: "int32" },
  },
];

/** Any other library with CBLAS's functions; its threads are set by its own variables. */
export const otherBlas: BlasDescription = {
  kind: "cblas",
  displayName: "a BLAS",
  fileName: /^(?:lib)?(?:cblas|blas|flexiblas|atlas)\b/,
  symbol: "cblas_sgemm",
  setThreads: undefined,
};

/** The prefixes and suffixes of symbols that builds have, and the type of their integers. NumPy's and SciPy's builds of OpenBLAS have "scipy_"; 64-bit ones "64_". */
export const symbolForms = [
  { prefix: "", suffix: "", integer: "int32" },
  { prefix: "", suffix: "64_", integer: "int64" },
  { prefix: "scipy_", suffix: "", integer: "int32" },
  { prefix: "scipy_", suffix: "64_", integer: "int64" },
] as const;
