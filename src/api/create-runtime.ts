/**
 * The composition root in Node.js: backends, platform, runtime and tasks. A browser has src/api/browser/create-runtime.ts
 * instead.
 */
import type { Backend } from "../backend.ts";
import { nodePlatform } from "../platform/node/platform.ts";
import { standardBackends } from "../presets/standard.ts";
import type { RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { Runtime, preloaded } from "./runtime.ts";

/** Settings of a runtime and its backends. */
export interface RuntimeConfig extends RuntimeSettings {
  /** Backends of the runtime. Default: onnx, native and wasm. */
  readonly backends?: readonly Backend[];
}

/**
 * Creates a runtime. Nothing is loaded or probed before it is needed, unless the settings name models to preload. Throws
 * INPUT_INVALID or CONFIG_INVALID for wrong settings.
 */
export async function createRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  const { backends = standardBackends(), ...settings } = config;
  const { textThreads } = settings;
  // Imported only if needed: few programs are servers.
  const pool = textThreads && new (await import("../tasks/text-threads/pool.ts")).TextThreadPool(textThreads);
  return preloaded(new Runtime(backends, settings, nodePlatform(), pool));
}
