/** Analysis of native libraries without loading them. */
export { type AnalyzeOptions, analyzeLibrary } from "./analyze-library.ts";
export { DependencyReader } from "./dependency-reader.ts";
export { acceleratorTitles } from "./compute-verdict.ts";
export type * from "./library-analysis.ts";
export { findNeeded } from "./find-needed.ts";
export { backendsIn } from "./ggml-backends.ts";
export { failedRequirements } from "./requirements.ts";
