/** The backend `xla`: graphs of our engine compiled by XLA, through a PJRT plugin. */
export { type XlaOptions, xla } from "./backend.ts";
export type { XlaSettings } from "./xla-settings.ts";
export type { BucketSizes } from "./buckets.ts";
export type { ProbedPlugin } from "./plugins/xla-plugins.ts";
export type { PluginFacts } from "./plugins/probe-plugin.ts";
