/** Inferyard in a browser: the same public names as in Node.js, on what a browser has. */
export * from "../public-names.ts";
export { type RuntimeConfig, createRuntime } from "./create-runtime.ts";
export { type NamedTask, type Pipeline, type PipelineName, type PipelineOptions, pipeline } from "./pipeline.ts";
export { standardBackends } from "../../composition/browser/standard-backends.ts";
