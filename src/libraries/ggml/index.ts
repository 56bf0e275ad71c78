/** ggml through its C functions: decoders, quantizers and products of all its types. */
export { findGgmlFiles, type GgmlFiles } from "./ggml-files.ts";
export { GgmlLibrary, type GgmlOptions, type GgmlProduct, type GgmlType } from "./ggml-library.ts";
