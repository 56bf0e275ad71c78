/** A runtime's surroundings in Node.js. A browser's are in src/browser/surroundings.ts. */
import { createMachineReader } from "../../devices/index.ts";
import { readMeasurements } from "../../measurements/index.ts";
import { inlineHost } from "../../hosts/inline.ts";
import { processHost } from "../../hosts/process.ts";
import { workerHost } from "../../hosts/worker.ts";
import { createSupervision } from "../../runtime/supervision/supervisor.ts";
import type { FetchOptions, Platform } from "../../runtime/platform.ts";

export function nodePlatform(): Platform {
  return {
    hosts: { inline: inlineHost(), worker: workerHost(), process: processHost() },
    isolatingHost: "process",
    readMeasurements: () => readMeasurements(),
    machine: createMachineReader(),
    fetchModel,
    createSupervision,
  };
}

/** Into the store. */
async function fetchModel(missing: string, options: FetchOptions): Promise<void> {
  // Imported where it is needed: a model on a disk does without the store.
  const { createStore } = await import("../../models/model-store.ts");
  await createStore().pull(missing, options);
}
