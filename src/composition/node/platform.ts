/** The platform of a runtime in Node.js. That of a browser is created in src/api/browser/create-runtime.ts. */
import { createMachineReader } from "../../devices/index.ts";
import { readMeasurements } from "../../speed-records/index.ts";
import { inlineHost } from "../../hosts/inline.ts";
import { deferredHost } from "./deferred-host.ts";
import { workerHost } from "../../hosts/worker.ts";
import { createSupervision } from "../../runtime/supervision/supervisor.ts";
import type { Backend } from "../../contract/backend.ts";
import type { Division, FetchOptions, Platform } from "../../runtime/platform.ts";

/** The platform of Node.js: hosts of models, facts about the machine, supervision and downloads. */
export function nodePlatform(): Platform {
  return {
    hosts: {
      inline: inlineHost(),
      worker: workerHost(),
      process: deferredHost("process", async () => (await import("../../hosts/process.ts")).processHost()),
    },
    isolatingHost: "process",
    readMeasurements: () => readMeasurements(),
    machine: createMachineReader(),
    fetchModel,
    createSupervision,
    divideModels,
  };
}

/** See `Platform.divideModels`. */
async function divideModels(backend: Backend, division: Division): Promise<Backend> {
  // Imported only if needed: most models are not divided.
  const { divideBackend } = await import("./divided-models.ts");
  return divideBackend(backend, division);
}

/** Downloads a model into the store. */
async function fetchModel(missing: string, options: FetchOptions): Promise<void> {
  // Imported only if needed: a model on disk does not need the store.
  const { createStore } = await import("../../models/model-store.ts");
  await createStore().pull(missing, options);
}
