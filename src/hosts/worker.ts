/** The worker host: each loaded model has a worker thread of its own, so that the event loop stays free. */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "../contract/errors.ts";
import { ExitGates } from "./exit-gate.ts";
import type { Host } from "./host.ts";
import { workerArguments } from "./node-arguments.ts";
import type { DeathDetails, Peer, PeerEvents } from "./peer.ts";
import { type AnswerMessage, portsOf, type WorkerData } from "./protocol.ts";
import { remoteHost } from "./remote-model.ts";

/** A host that runs each model in a worker thread. `program` (script of the thread) is set only by benchmarks, whose sources no thread can run. */
export function workerHost(program: URL = new URL("./worker-thread.ts", import.meta.url)): Host {
  const gates = new ExitGates();
  return remoteHost(
    "worker",
    (events, interruptible) => startWorker(program, gates, events, interruptible),
    () => {
      const { port1, port2 } = new MessageChannel();
      return [port1, port2];
    },
  );
}

function startWorker(program: URL, gates: ExitGates, { onAnswer, onDeath, onEnd }: PeerEvents, interruptible: boolean): Peer {
  const gate = gates.open();
  const die = (reason: string, details: DeathDetails): void => {
    gates.close(gate);
    onDeath(reason, details);
  };
  const worker = new Worker(program, {
    workerData: { gate } satisfies WorkerData,
    ...workerArguments(process.execArgv),
  });
  worker.on("message", (message: AnswerMessage) => onAnswer(message));
  worker.on("error", (cause: unknown) => die(`the worker failed: ${messageOf(cause)}`, { cause }));
  worker.on("exit", (code) => {
    onEnd();
    die(`the worker ended with code ${code}`, { facts: { exitCode: code } });
  });
  const kill = async (): Promise<void> => {
    await worker.terminate();
    gates.close(gate);
  };
  return {
    kind: "worker",
    interruptible,
    send: (message) => worker.postMessage(message, portsOf(message) as readonly MessagePort[]),
    setBusy: (state) => (state === "busy" ? worker.ref() : worker.unref()),
    markHung() {
      worker.unref();
      gates.markHung(gate);
    },
    end: kill,
    kill,
  };
}
