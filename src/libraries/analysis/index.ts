/** Analysis of native libraries without loading them. */
export { type AnalyzeOptions, analyzeLibrary } from "./analyze-library.ts";
export { DependencyReader } from "./dependency-reader.ts";
export { acceleratorTitles } from "./compute-verdict.ts";
export type {
  AcceleratorName,
  BinaryFacts,
  ComputeVerdict,
  Confidence,
  ContractCoverage,
  Fit,
  FoundBy,
  IndirectNeed,
  LibraryAnalysis,
  LibraryClass,
  NeededLibrary,
  SymbolGroup,
  SymbolGroupName,
  VersionRequirement,
  VersionSummary,
} from "./library-analysis.ts";
export { type FoundLibrary, type FoundNeeds, findNeeded } from "./find-needed.ts";
export { failedRequirements } from "./requirements.ts";
