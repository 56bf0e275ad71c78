/** The backend `xla`: graphs of our engine compiled by XLA, through a PJRT plugin. */
export { type ProbedPlugin, type XlaOptions, xla } from "./backend.ts";
export type { XlaSettings } from "./xla-settings.ts";
export type { BucketSizes } from "./buckets.ts";
export type { PluginFacts } from "./probe-plugin.ts";
