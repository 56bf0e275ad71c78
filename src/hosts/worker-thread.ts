/** The program a worker runs: one model, one call after the other. */
import { parentPort, workerData } from "node:worker_threads";
import type { Backend, LoadedModel } from "../backend.ts";
import { InferyardError, wrapError } from "../errors.ts";
import { transferables } from "../tensor.ts";
import { WorkerGate } from "./exit-gate.ts";
import type { AnswerMessage, Call, CallMessage, ModelDescription, Results, WorkerData } from "./protocol.ts";

const port = parentPort;
if (port === null)
  throw new InferyardError("CONTRACT_VIOLATION", "worker-thread.js is the program of a worker, not a main program");

// Stdout carries results only, whatever an engine prints. Done here: reading the worker's stdout over there would keep the program alive.
process.stdout.write = process.stderr.write.bind(process.stderr);

const gate = new WorkerGate((workerData as WorkerData).gate);
const held: { backend?: Backend; model?: LoadedModel } = {};

port.on("message", (message: CallMessage) => void answer(message));

async function answer(message: CallMessage): Promise<void> {
  try {
    const result = await gate.guard(() => perform(message));
    const transfer = message.operation === "run" ? transferables(result as Results["run"]) : [];
    port?.postMessage({ number: message.number, ok: true, result } satisfies AnswerMessage, transfer);
  } catch (thrown) {
    const error = wrapError(
      thrown,
      message.operation === "load" ? "LOAD_FAILED" : "RUN_FAILED",
      `the worker's ${message.operation} failed`,
    );
    port?.postMessage({ number: message.number, ok: false, error: error.toJSON() } satisfies AnswerMessage);
  }
}

async function perform(call: Call): Promise<Results[keyof Results]> {
  switch (call.operation) {
    case "load":
      return load(call);
    case "run":
      return loaded().run(call.inputs, call.outputs === undefined ? {} : { outputs: call.outputs });
    case "evidence":
      return loaded().evidence();
    case "dispose":
      await held.model?.dispose();
      await held.backend?.dispose?.();
      return null;
  }
}

async function load(call: Extract<Call, { operation: "load" }>): Promise<ModelDescription> {
  const module = (await import(call.entry.module)) as Record<string, unknown>;
  const create = module[call.entry.export];
  if (typeof create !== "function") {
    throw new InferyardError("CONTRACT_VIOLATION", `${call.entry.module} does not export a function "${call.entry.export}"`);
  }
  held.backend = create(call.entry.options) as Backend;
  held.model = await held.backend.load(call.model, call.device, call.settings);
  const { inputs, outputs, library, memory } = held.model;
  return { inputs, outputs, library, memory };
}

function loaded(): LoadedModel {
  if (held.model === undefined) throw new InferyardError("DISPOSED", "no model is loaded in this worker");
  return held.model;
}
