/**
 * Inferyard: give it a model, and it runs it on the engine that fits, proves that it did, and says why.
 *
 * @module inferyard
 */
export { type RuntimeConfig, createRuntime } from "./api/create-runtime.ts";
export { Runtime } from "./api/runtime.ts";
export type * from "./api/task-requests.ts";
export { type NamedTask, type Pipeline, type PipelineName, type PipelineOptions, pipeline } from "./api/pipeline.ts";
export type * from "./api/pipelines.ts";
export type * from "./api/generation-pipelines.ts";
export { type Streamer, TextStreamer, type TextStreamerOptions } from "./tasks/generation/text-streamer.ts";
export * from "./tasks/index.ts";
export type { Candidate, Decision, Selected, SelectionStage, Verdict } from "./runtime/decision/decision.ts";
export { type HeldLanguage, ModelHandle } from "./runtime/model-handle.ts";
export { ModelRuntime } from "./runtime/model-runtime.ts";
export type { ModelComparison, ReloadOptions, ReloadReport, ReloadedModel } from "./runtime/reloading/reload-report.ts";
export type { LibraryFile } from "./contract/reloading.ts";
export type { BackendReport, MemoryReport, ModelMemory } from "./runtime/reports.ts";
export type {
  BatchEvent,
  ModelOptions,
  ModelSettings,
  RuntimeEvent,
  RuntimeSettings,
  Strategy,
} from "./runtime/options/runtime-settings.ts";
export type { MemoryAmounts } from "./runtime/selection/memory-budget.ts";
export type { MemoryBudgetSettings } from "./runtime/options/memory-settings.ts";
export type { UnloadReason } from "./runtime/options/memory-settings.ts";
export type { Policy, ConstraintOptions } from "./runtime/targets/constraints.ts";
export type { HostedRunOptions } from "./hosts/host.ts";
export type { HostName } from "./hosts/host-name.ts";
export type { Reduction, TokenPosition } from "./hosts/output-reduction.ts";
export {
  type CheckOptions,
  type CheckReport,
  type Damage,
  type ModelStore,
  type PruneReport,
  type PullOptions,
  type PullProgress,
  type PullReport,
  type RemoveReport,
  type StoredFile,
  type StoredModel,
  type StoredVariant,
  type StoreOptions,
  createStore,
} from "./models/model-store.ts";
export type { Manifest, Pooling, Variant } from "./models/manifest.ts";
export { convertOffsets } from "./tokenizers/index.ts";
export type {
  TokenDecodeOptions,
  EncodeOptions,
  Encoding,
  OffsetUnit,
  PadOptions,
  PaddedBatch,
  TokenIds,
  Tokenizer,
  TruncationStrategy,
} from "./tokenizers/index.ts";
export { type StandardBackendOptions, standardBackends } from "./composition/node/standard-backends.ts";
export { type ErrorCode, InferyardError } from "./contract/errors.ts";
export type { DataType, Tensor, TensorInfo, TensorMap } from "./contract/tensor.ts";
export type {
  Accelerator,
  Availability,
  Backend,
  Device,
  DeviceAvailability,
  DeviceState,
  KernelCount,
  MachineFacts,
} from "./contract/backend.ts";
