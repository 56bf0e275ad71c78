/** The shared pipeline, with the settings a browser's runtime takes. */
import { type NamedTask, type Pipeline, type PipelineName, pipeline as sharedPipeline } from "../pipeline.ts";
import type { ModelOptions } from "../../runtime/options/runtime-settings.ts";
import type { RuntimeConfig } from "./create-runtime.ts";

export type { NamedTask, Pipeline, PipelineName } from "../pipeline.ts";

/** Options of `pipeline` in a browser: options of loading a model, and settings of the runtime that is created for it. */
export interface PipelineOptions extends ModelOptions, Omit<RuntimeConfig, keyof ModelOptions> {}

/**
 * Creates a runtime, loads `model` (default: the task's own) and returns a function that runs `task` on it. Throws errors of `createRuntime` and loading.
 */
export const pipeline: <Name extends PipelineName>(
  task: Name,
  model?: string,
  options?: PipelineOptions,
) => Promise<Pipeline<NamedTask<Name>>> = sharedPipeline;
