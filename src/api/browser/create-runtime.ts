/** The composition root in a browser. Replaces src/api/create-runtime.ts and exports the same names. */
import type { Backend } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { inlineHost } from "../../hosts/inline.ts";
import type { RuntimeSettings } from "../../runtime/options/runtime-settings.ts";
import type { Platform } from "../../runtime/platform.ts";
import { Runtime, preloaded } from "../runtime.ts";
import { getAddress, assetsFolder } from "../../platform/browser/assets.ts";
import { fetchModel } from "../../composition/browser/download/fetch-model.ts";
import { browserMachine } from "../../composition/browser/machine.ts";
import { browserScope } from "../../platform/browser/global-scope.ts";
import { standardBackends } from "../../composition/browser/standard-backends.ts";
import { browserWorkerHost } from "../../composition/browser/worker-host.ts";

/** Settings of a runtime in a browser. */
export interface RuntimeConfig extends RuntimeSettings {
  /** Backends of the runtime. Default: native and wasm; decisions also list onnx with the reason why it is not available. */
  readonly backends?: readonly Backend[];
  /**
   * Where `ort-wasm-simd-threaded.mjs`, `ort-wasm-simd-threaded.wasm` and the folder `builtin` lie: a URL, relative to the page. Default:
   * the folder the bundle was loaded from.
   */
  readonly assets?: string;
  /** Where the worker's program `inferyard-worker.js` lies: a URL, relative to the page. Default: beside the bundle. */
  readonly worker?: string;
}

/**
 * Creates a runtime in a browser. Nothing is downloaded or loaded before it is needed. By default `replicas` is 1 and `threads`
 * is half of the processors, at most 4, as in onnxruntime-web. Throws CONFIG_INVALID for settings that a browser cannot
 * support.
 */
export async function createRuntime(config: RuntimeConfig = {}): Promise<Runtime> {
  const { assets: wanted, worker, ...rest } = config;
  const assets = assetsFolder(wanted);
  const { backends = standardBackends(assets), ...settings } = rest;
  if (settings.host === "process") throw noProcesses();
  for (const name of [
    "maxProcessMemory",
    "maxProcessGrowth",
    "growthIdle",
    "maxCrashes",
    "crashWindow",
    "loadTimeout",
    "runTimeout",
    "textThreads",
    "constraintThreads",
  ] as const)
    if (settings[name] !== undefined) throw unsupportedSetting(name);
  const workers = browserWorkerHost(worker === undefined ? undefined : getAddress("worker", worker));
  const platform: Platform = {
    hosts: { inline: inlineHost(), worker: workers, process: workers },
    isolatingHost: "worker",
    readMeasurements: async () => ({ measurements: [], problems: [] }), // nothing measures in a page
    machine: browserMachine(),
    fetchModel: (reference, options) => fetchModel(assets, reference, options),
    createSupervision: () => () => undefined,
  };
  return preloaded(new Runtime(backends, { replicas: 1, threads: defaultThreads(), ...settings }, platform));
}

function unsupportedSetting(name: string): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${name} is set, and in a page nobody watches over workers`, {
    remedy: "leave it out",
  });
}

function noProcesses(): InferyardError {
  return new InferyardError("CONFIG_INVALID", "a browser has no processes to put a model in", {
    remedy: 'leave `host` out, or set it to "worker"',
  });
}

function defaultThreads(): number {
  return Math.min(4, Math.ceil(browserScope().navigator.hardwareConcurrency / 2));
}
