/** Programs: graphs written in TypeScript or taken from ONNX files, compiled for the backend that the caller names, with fallbacks. */
export {
  defineProgram,
  type ManyOutputs,
  type OneOutput,
  type ProgramBuilder,
  type ProgramOperators,
} from "./definition/define-program.ts";
export type { DefinitionOptions } from "./definition/check-program.ts";
export { type OnnxProgram, programFromOnnx } from "./definition/program-from-onnx.ts";
export {
  defineOperator,
  type StableHloOperands,
  type TensorFunction,
  type UserImplementations,
  type UserOperator,
} from "./definition/user-operator.ts";
export type { Attributes } from "./definition/attributes.ts";
export type { Dimensions, ProgramOperand, ProgramValue, StateOptions } from "./definition/program-value.ts";
export type { Program, ProgramState, ProgramWeight } from "./definition/program.ts";
export { compileProgram, type CompileOptions } from "./compilation/compile-program.ts";
export { optimize, type OptimizedProgram, type OptimizeOptions } from "./optimization/optimize-program.ts";
export type { ChosenSettings, RewriteStep } from "./optimization/candidate.ts";
export type { OptimizationReport, RooflineShare, TriedCandidate } from "./optimization/optimization-report.ts";
export type { BackendPeaks } from "./optimization/roofline.ts";
export type { ProgramKernel, ProgramRunOptions } from "./compilation/program-kernel.ts";
export type { ProgramDecision, SelectedBackend } from "./compilation/program-decision.ts";
export type { ProgramMemoryUsage } from "./compilation/program-session.ts";
export type { RankOptions } from "./ranks/rank-options.ts";
export type { Parallelism } from "./ranks/rank-part.ts";
export type { DimensionBuckets } from "./compilation/buckets.ts";
export type { OrtTensor, TensorArgument } from "./definition/tensor-arguments.ts";
export type {
  BufferType,
  DeviceBuffer,
  DeviceGraph,
  DeviceSettings,
  ProgramAvailability,
  ProgramBackend,
  ProgramDevice,
  ProgramMode,
} from "./interface/program-backend.ts";
export { type BackendInfo, ProgramBackends, type RefusedBackend, type ResolvedBackend } from "./backends/program-backends.ts";
export type { BackendName } from "./backends/backend-names.ts";
export { standardProgramBackends } from "./backends/standard-program-backends.ts";
export { nativePrograms } from "./backends/native-programs.ts";
export { xlaPrograms, type XlaProgramsOptions } from "./backends/xla-programs.ts";
export { blasPrograms, type BlasProgramsOptions } from "./backends/blas/blas-programs.ts";
export { cudaPrograms, type CudaProgramsOptions } from "./backends/cuda/cuda-programs.ts";
export {
  getAvailableBackends,
  getBackendInfo,
  isBackendAvailable,
  PersistentKernel,
  type PersistentKernelOptions,
} from "./persistent-kernel.ts";
