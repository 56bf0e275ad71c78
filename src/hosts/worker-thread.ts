/** Program of a worker thread of the worker host. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { isSharedReplicaState } from "../contract/replicas.ts";
import { transferables } from "../contract/tensor.ts";
import { startIdleHeapCollection } from "../platform/node/idle-collection.ts";
import { WorkerGate } from "./exit-gate.ts";
import { ModelServer, type ReceiveSharedState } from "./model-server.ts";
import type { CallMessage, Results, WorkerData } from "./protocol.ts";

const port = parentPort;
if (port === null)
  throw new InferyardError("CONTRACT_VIOLATION", "worker-thread.js is the program of a worker, not a main program");

// Stdout is reserved for results. It is redirected here, since reading the worker's stdout in the main thread would keep the
// program alive.
process.stdout.write = process.stderr.write.bind(process.stderr);

startIdleHeapCollection();
const gate = new WorkerGate((workerData as WorkerData).gate);
const receive: ReceiveSharedState = (given) => {
  const received: { readonly message: object } | undefined = receiveMessageOnPort(given as MessagePort);
  return received !== undefined && isSharedReplicaState(received.message) ? received.message : undefined;
};
const server = new ModelServer("worker", undefined, receive);

port.on("message", async (message: CallMessage) => {
  const { number, operation } = message;
  const answer = await server.answer(message, (work) => gate.guard(work));
  try {
    const transfer = answer.ok && operation === "run" ? transferables(answer.result as Results["run"]) : [];
    const { memory, programs } = server;
    port.postMessage({ ...answer, ...omitUndefined({ memory, programs }) }, transfer);
  } catch (thrown) {
    port.postMessage({ number, ok: false, error: server.failure(operation, thrown).toJSON() });
  }
});
