/** Load settings: the part of the backend contract that users can set. */
import type { CommonLoadSettings } from "./generated-load-settings.ts";

export type { LoraAdapter } from "./lora-adapter.ts";

/** Settings of a load that a user may set. A backend lists the settings that it obeys in `Capabilities.options`. */
export interface LoadSettings extends CommonLoadSettings {
  /** Settings that only this engine has, by the names that its backend lists in `Capabilities.options`. Default: none. */
  readonly engine?: Readonly<Record<string, unknown>>;
}

/** Limits on the resources of one model file and one run. They exclude no candidate: a backend obeys the limits that apply to it. */
export interface LoadLimits {
  /**
   * For engines that trace models: maximum milliseconds to compile a model into one executable, plus one millisecond for every
   * 8192 elements of its weights. Default: the engine's own, 30 seconds.
   */
  readonly maxTraceTime?: number;
  /**
   * For engines that trace models: maximum bytes held while compiling a model into one executable, plus 16 bytes for each
   * element of its weights. Default: the engine's own, 512 MiB.
   */
  readonly maxTraceMemory?: number;
  /** Maximum bytes of one run besides the weights; a run that would need more throws LIMIT_EXCEEDED. Default: no limit. */
  readonly maxRunMemory?: number;
}
