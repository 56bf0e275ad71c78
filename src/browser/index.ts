/** Inferyard in a browser: the same public names as in Node.js, on what a browser has. */
export {
  type ChunkRequest,
  type ChunkResult,
  type EmbedRequest,
  type EmbedResult,
  Runtime,
  type RuntimeConfig,
  createRuntime,
} from "./create-runtime.ts";
export {
  type FeatureExtractionPipeline,
  type FeatureTensor,
  type PipelineOptions,
  type PipelineTask,
  pipeline,
} from "./pipeline.ts";
export type { Chunk, ChunkedText } from "../tasks/chunk/chunk.ts";
export type { ChunkOptions, ChunkStrategy } from "../tasks/chunk/chunk-options.ts";
export type { OffsetUnit } from "../tasks/chunk/positions.ts";
export type { Separator } from "../tasks/chunk/separators.ts";
export { type EmbedOptions } from "../tasks/embed-settings.ts";
export { type Embeddings } from "../tasks/embed.ts";
export type { Candidate, Decision, Selected, Stage, Verdict } from "../runtime/decision.ts";
export { ModelHandle } from "../runtime/model-handle.ts";
export { ModelRuntime } from "../runtime/model-runtime.ts";
export type { BackendReport, MemoryReport, ModelMemory } from "../runtime/reports.ts";
export type { ModelOptions, ModelSettings, RuntimeEvent, RuntimeSettings, Strategy } from "../runtime/runtime-settings.ts";
export type { Policy, WishInput } from "../runtime/wish.ts";
export type { HostName } from "../hosts/host.ts";
export { createStore, inspectFile, inspectModel } from "./absent.ts";
export type { PullProgress } from "../models/hub/progress.ts";
export type { Manifest, Pooling, Variant } from "../models/manifest.ts";
export type { Encoding, Tokenizer } from "../tokenizers/index.ts";
export { standardBackends } from "./standard-backends.ts";
export { type ErrorCode, InferyardError } from "../errors.ts";
export type { DataType, Tensor, TensorInfo, TensorMap } from "../tensor.ts";
export type { Accelerator, Availability, Backend, Device, DeviceAvailability, MachineFacts } from "../backend.ts";
