/** Inferyard in a browser: the same public names as in Node.js, on what a browser has. */
export { type RuntimeConfig, createRuntime } from "./create-runtime.ts";
export { Runtime } from "../runtime.ts";
export type * from "../task-requests.ts";
export { type NamedTask, type Pipeline, type PipelineName, type PipelineOptions, pipeline } from "./pipeline.ts";
export type * from "../pipelines.ts";
export * from "../../tasks/index.ts";
export type { Candidate, Decision, Selected, SelectionStage, Verdict } from "../../runtime/decision/decision.ts";
export { ModelHandle } from "../../runtime/model-handle.ts";
export { ModelRuntime } from "../../runtime/model-runtime.ts";
export type { BackendReport, MemoryReport, ModelMemory } from "../../runtime/reports.ts";
export type {
  ModelOptions,
  ModelSettings,
  RuntimeEvent,
  RuntimeSettings,
  Strategy,
} from "../../runtime/options/runtime-settings.ts";
export type { Policy, ConstraintOptions } from "../../runtime/targets/constraints.ts";
export type { HostedRunOptions } from "../../hosts/host.ts";
export type { HostName } from "../../hosts/host-name.ts";
export type { Reduction, TokenPosition } from "../../hosts/output-reduction.ts";
export type { PullProgress } from "../../models/hub/progress.ts";
export type { Manifest, Pooling, Variant } from "../../models/manifest.ts";
export { type Streamer, TextStreamer, type TextStreamerOptions } from "../../tasks/generation/text-streamer.ts";
export { convertOffsets } from "../../tokenizers/index.ts";
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
} from "../../tokenizers/index.ts";
export { standardBackends } from "../../composition/browser/standard-backends.ts";
export { type ErrorCode, InferyardError } from "../../contract/errors.ts";
export type { DataType, Tensor, TensorInfo, TensorMap } from "../../contract/tensor.ts";
export type { Accelerator, Availability, Backend, Device, DeviceAvailability, MachineFacts } from "../../contract/backend.ts";
