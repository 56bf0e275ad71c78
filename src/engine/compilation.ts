/** What a backend needs that compiles the engine's graphs itself: interfaces of compilers, folding, passes and caches. */
export { ModelFolding } from "./execute/model-folding.ts";
export { CompiledModel, type EngineRunOptions } from "./execute/compiled-model.ts";
export type { CompiledGraph, GraphCompiler } from "./execute/graph-compiler.ts";
export type {
  AppendedRows,
  AppendOptions,
  DecoderCache,
  DecoderProgram,
  SourceStates,
  StateSettings,
} from "./execute/decode/decoder-engine.ts";
export { coarseSizes, type DecoderSizes } from "./execute/decode/decoder-sizes.ts";
export { type PastInput, pastType } from "./execute/decode/decoder-inputs.ts";
export type { StepCounts } from "./execute/segments/model-run.ts";
export type { YieldPolicy } from "./execute/yield-policy.ts";
export { type OptimizationLevel, runPasses } from "./passes/index.ts";
export type { TraceBudget } from "./build/trace-budget.ts";
