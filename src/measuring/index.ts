/** Verification, benchmark and tuning of a model on each target, for models of every kind. */
export { type Benchmark, benchmarkModel, type BenchmarkOptions, type MeasuringOptions } from "./benchmark-model.ts";
export type { KindName } from "./kinds/index.ts";
export type { PlacementOptions } from "./on-targets.ts";
export type { RoundProgress } from "./rounds.ts";
export type { Gain, Knob, Point, Sample, SearchResult, Trial } from "./search.ts";
export { type ModelReport, type TargetReport, unmetTargets } from "./target-report.ts";
export type { TargetCheck } from "./test-target.ts";
export { type TuneFigures, tuneModel, type TuneOptions } from "./tune-model.ts";
export { type VerifyFigures, verifyModel, type VerifyOptions } from "./verify-model.ts";
export type { Figures } from "../speed-records/index.ts";
