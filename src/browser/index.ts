/** Inferyard in a browser: the same public names as in Node.js, on what a browser has. */
export { type RuntimeConfig, createRuntime } from "./create-runtime.ts";
export {
  type ChunkRequest,
  type ChunkResult,
  type ClassifyRequest,
  type ClassifyResult,
  type EmbedRequest,
  type EmbedResult,
  type EmbedSparseRequest,
  type EmbedSparseResult,
  type QuantizedEmbedRequest,
  type QuantizedEmbedResult,
  type RecognizeRequest,
  type RecognizeResult,
  type RerankRequest,
  type RerankResult,
  Runtime,
  type TaskRun,
} from "../task-runtime.ts";
export {
  type FeatureExtractionPipeline,
  type FeatureTensor,
  type PipelineOptions,
  type PipelineTask,
  pipeline,
} from "./pipeline.ts";
export type { ClassifyOptions } from "../tasks/classify.ts";
export type { Activation, Classifications, LabelScore } from "../tasks/labels.ts";
export type { Aggregation } from "../tasks/entities.ts";
export type { Entities, Entity, RecognizeOptions } from "../tasks/recognize.ts";
export type { RankedDocument, Ranking, RerankOptions } from "../tasks/rerank.ts";
export type { Chunk, ChunkedText } from "../tasks/chunk/chunk.ts";
export type { ChunkOptions, ChunkStrategy, LateStructure } from "../tasks/chunk/chunk-options.ts";
export type { Separator } from "../tasks/chunk/separators.ts";
export type { EmbedOptions, QuantizedEmbedOptions } from "../tasks/embed-settings.ts";
export { type EmbeddingRanges, embeddingRanges } from "../tasks/embedding-ranges.ts";
export type { QuantizedPrecision, QuantizedVectors, Scales } from "../tasks/quantize.ts";
export type { EmbedSparseOptions, SparseEmbedding, SparseEmbeddings } from "../tasks/embed-sparse.ts";
export { type TokenVectors, maxSim } from "../tasks/late-interaction.ts";
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
export { convertOffsets } from "../tokenizers/index.ts";
export type {
  DecodeOptions,
  EncodeOptions,
  Encoding,
  OffsetUnit,
  PadOptions,
  PaddedBatch,
  TokenIds,
  Tokenizer,
  TruncationStrategy,
} from "../tokenizers/index.ts";
export { standardBackends } from "./standard-backends.ts";
export { type ErrorCode, InferyardError } from "../errors.ts";
export type { DataType, Tensor, TensorInfo, TensorMap } from "../tensor.ts";
export type { Accelerator, Availability, Backend, Device, DeviceAvailability, MachineFacts } from "../backend.ts";
