/** The public names that the entry points for Node.js and for browsers share. */
export { Runtime } from "./runtime.ts";
export type * from "./task-requests.ts";
export type * from "./media/vision-requests.ts";
export type * from "./media/sound-requests.ts";
export type { Picture } from "../processors/images/picture.ts";
export type * from "./pipelines.ts";
export type * from "./generation-pipelines.ts";
export type * from "./speech-pipelines.ts";
export type { TranscriptStream } from "./media/transcription.ts";
export { type Streamer, TextStreamer, type TextStreamerOptions } from "../tasks/generation/text-streamer.ts";
export * from "../tasks/index.ts";
export type { Candidate, Decision, Selected, SelectionStage, Verdict } from "../runtime/decision/decision.ts";
export { type HeldLanguage, ModelHandle } from "../runtime/model-handle.ts";
export { ModelRuntime } from "../runtime/model-runtime.ts";
export type { BackendReport, MemoryReport, ModelMemory } from "../runtime/reports.ts";
export type {
  BatchEvent,
  MemoryBudgetSettings,
  ModelOptions,
  ModelSettings,
  RuntimeEvent,
  RuntimeSettings,
  Strategy,
  UnloadReason,
} from "../runtime/options/runtime-settings.ts";
export type { MemoryAmounts } from "../runtime/selection/memory-budget.ts";
export type { Policy, ConstraintOptions } from "../runtime/targets/constraints.ts";
export type { HostedRunOptions } from "../hosts/host.ts";
export type { HostName } from "../hosts/host-name.ts";
export type { OutputReduction, TokenPosition } from "../hosts/output-reduction.ts";
export type { PullProgress } from "../models/hub/progress.ts";
export type { Manifest, Pooling, Variant } from "../models/manifest.ts";
export { convertOffsets } from "../tokenizers/index.ts";
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
} from "../tokenizers/index.ts";
export { type ErrorCode, InferyardError } from "../contract/errors.ts";
export type { DataType, Tensor, TensorInfo, TensorMap } from "../contract/tensor.ts";
export type {
  Accelerator,
  Availability,
  Backend,
  Device,
  DeviceAvailability,
  DeviceState,
  KernelCount,
  MachineFacts,
} from "../contract/backend.ts";
