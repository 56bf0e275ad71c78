/** ggml through its C functions: decoders, quantizers and products of all its types. */
export { findGgmlFiles, readGgmlDigests } from "./ggml-files.ts";
export { GgmlLibrary } from "./ggml-library.ts";
