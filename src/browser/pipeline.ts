/** The shared pipeline, with the settings a browser's runtime takes. */
import { type FeatureExtractionPipeline, type PipelineTask, pipeline as sharedPipeline } from "../pipeline.ts";
import type { ModelOptions } from "../runtime/runtime-settings.ts";
import type { RuntimeConfig } from "./create-runtime.ts";

export type { FeatureExtractionPipeline, FeatureTensor, PipelineTask } from "../pipeline.ts";

export interface PipelineOptions extends ModelOptions, Omit<RuntimeConfig, keyof ModelOptions> {}

export const pipeline: (task: PipelineTask, model?: string, options?: PipelineOptions) => Promise<FeatureExtractionPipeline> =
  sharedPipeline;
