/** A runtime's surroundings in Node.js. A browser's are in src/browser/surroundings.ts. */
import { createMachineReader } from "../../devices/index.ts";
import { readMeasurements } from "../../measurements/index.ts";
import { inlineHost } from "../../hosts/inline.ts";
import { processHost } from "../../hosts/process.ts";
import { workerHost } from "../../hosts/worker.ts";
import { superviseBy } from "../../runtime/supervision/supervisor.ts";
import type { FetchOptions, Surroundings } from "../../runtime/platform.ts";

export function nodeSurroundings(): Surroundings {
  return {
    hosts: { inline: inlineHost(), worker: workerHost(), process: processHost() },
    isolating: "process",
    readMeasurements: () => readMeasurements(),
    machine: createMachineReader(),
    fetchModel,
    supervise: superviseBy,
  };
}

/** Into the store. */
async function fetchModel(missing: string, options: FetchOptions): Promise<void> {
  // Imported where it is needed: a model on a disk does without the store.
  const { createStore } = await import("../../models/model-store.ts");
  await createStore().pull(missing, options);
}
