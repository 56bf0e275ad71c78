/**
 * Inferyard: give it a model, and it runs it on the engine that fits, proves that it did, and says why.
 *
 * @module inferyard
 */
export * from "./api/public-names.ts";
export { type RuntimeConfig, createRuntime } from "./api/create-runtime.ts";
export { type NamedTask, type Pipeline, type PipelineName, type PipelineOptions, pipeline } from "./api/pipeline.ts";
export type { ModelComparison, ReloadOptions, ReloadReport, ReloadedModel } from "./runtime/reloading/reload-report.ts";
export type { LibraryFile } from "./contract/reloading.ts";
export {
  type CheckOptions,
  type CheckReport,
  type Damage,
  type ModelStore,
  type PruneReport,
  type PullOptions,
  type PullReport,
  type RemoveReport,
  type StoredFile,
  type StoredModel,
  type StoredVariant,
  type StoreOptions,
  createStore,
} from "./models/model-store.ts";
export { type StandardBackendOptions, standardBackends } from "./composition/node/standard-backends.ts";
