/** Where everything is put together in Node.js: backends, surroundings, the runtime and its tasks. A browser has src/api/browser/create-runtime.ts. */
import type { Backend } from "../backend.ts";
import { nodePlatform } from "../platform/node/platform.ts";
import { standardBackends } from "../presets/standard.ts";
import type { RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import { Runtime, preloaded } from "./runtime.ts";

export interface RuntimeConfig extends RuntimeSettings {
  /** Default: onnx, native and wasm. */
  readonly backends?: readonly Backend[];
}

/** A runtime on the standard backends, or on those given. Nothing is loaded or probed until it is needed, unless the settings say so. */
export async function createRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  const { backends = standardBackends(), ...settings } = config;
  const { textThreads } = settings;
  // Imported where it is asked for: few programs are servers.
  const pool = textThreads && new (await import("../tasks/text-threads/pool.ts")).TextThreadPool(textThreads);
  return preloaded(new Runtime(backends, settings, nodePlatform(), pool));
}
