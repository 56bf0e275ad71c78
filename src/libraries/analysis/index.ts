/** Analysis of native libraries without loading them. */
export { analyzeLibrary } from "./analyze-library.ts";
export { DependencyReader } from "./dependency-reader.ts";
export { acceleratorTitles } from "./compute-verdict.ts";
export type * from "./library-analysis.ts";
export { failedRequirements } from "./requirements.ts";
