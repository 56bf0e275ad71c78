/** The shared pipeline, with the settings a browser's runtime takes. */
import { type NamedTask, type Pipeline, type PipelineName, pipeline as sharedPipeline } from "../pipeline.ts";
import type { ModelOptions } from "../../runtime/options/runtime-settings.ts";
import type { RuntimeConfig } from "./create-runtime.ts";

export type { NamedTask, Pipeline, PipelineName } from "../pipeline.ts";

export interface PipelineOptions extends ModelOptions, Omit<RuntimeConfig, keyof ModelOptions> {}

export const pipeline: <Name extends PipelineName>(
  task: Name,
  model?: string,
  options?: PipelineOptions,
) => Promise<Pipeline<NamedTask<Name>>> = sharedPipeline;
