/**
 * The composition root in Node.js: backends, platform, runtime and tasks. A browser has src/api/browser/create-runtime.ts
 * instead.
 */
import { type RuntimeConfig, prepareRuntime } from "./prepare-runtime.ts";
import { type Runtime, preloaded } from "./runtime.ts";

export type { RuntimeConfig } from "./prepare-runtime.ts";

/**
 * Creates a runtime. Nothing is loaded or probed before it is needed, unless the settings name models to preload. Throws
 * INPUT_INVALID or CONFIG_INVALID for wrong settings.
 */
export async function createRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  return preloaded(await prepareRuntime(config));
}
