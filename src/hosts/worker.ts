/** The worker host: each loaded model has a worker thread of its own, so that the event loop stays free. */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { getMessage } from "../contract/errors.ts";
import { startThread } from "../platform/node/start-thread.ts";
import { ExitGates } from "./exit-gate.ts";
import type { Host } from "./host.ts";
import { workerArguments } from "./node-arguments.ts";
import type { DeathDetails, Peer, PeerEvents } from "./peer.ts";
import { type AnswerMessage, getPorts, type WorkerData } from "./protocol.ts";
import { remoteHost } from "./remote-model.ts";

/** A worker thread that has no model yet. */
interface StartedThread {
  readonly worker: Worker;
  readonly gate: SharedArrayBuffer;
}

/** A host that runs each model in a worker thread. `program` (script of the thread) is set only by benchmarks, whose sources no thread can run. */
export function workerHost(program: URL = new URL("./worker-thread.ts", import.meta.url)): Host {
  const gates = new ExitGates();
  const spares = new SpareThread(program, gates);
  const host = remoteHost(
    "worker",
    (events, interruptible) => getPeer(spares.take() ?? startModelThread(program, gates), gates, events, interruptible),
    () => {
      const { port1, port2 } = new MessageChannel();
      return [port1, port2];
    },
  );
  return { ...host, prepare: () => spares.prepare() };
}

/** At most one thread that was started before its model is known. */
class SpareThread {
  readonly #program: URL;
  readonly #gates: ExitGates;
  #spare: StartedThread | undefined;
  /** The thread failed or ended by itself: the next load starts another one, and says what is wrong. */
  readonly #onEnd = (): void => {
    if (this.#spare !== undefined) this.#gates.close(this.#release(this.#spare).gate);
  };

  constructor(program: URL, gates: ExitGates) {
    this.#program = program;
    this.#gates = gates;
  }

  /** Starts the thread if there is none, and a second processor to start it on. See `Host.prepare`. */
  prepare(): () => void {
    if (this.#spare !== undefined || availableParallelism() < 2) return () => {};
    const spare = startModelThread(this.#program, this.#gates);
    spare.worker.on("error", this.#onEnd).on("exit", this.#onEnd).unref();
    this.#spare = spare;
    return () => {
      if (this.#spare === spare) void this.#end(this.#release(spare));
    };
  }

  /** The thread, which is the caller's from here on. */
  take(): StartedThread | undefined {
    const spare = this.#spare;
    if (spare !== undefined) this.#release(spare).worker.ref();
    return spare;
  }

  #release(spare: StartedThread): StartedThread {
    spare.worker.off("error", this.#onEnd).off("exit", this.#onEnd);
    this.#spare = undefined;
    return spare;
  }

  async #end({ worker, gate }: StartedThread): Promise<void> {
    worker.on("error", () => {}); // it has no model, and nobody waits for it
    await worker.terminate();
    this.#gates.close(gate);
  }
}

function startModelThread(program: URL, gates: ExitGates): StartedThread {
  const gate = gates.open();
  const worker = startThread(program, {
    workerData: { gate } satisfies WorkerData,
    ...workerArguments(process.execArgv),
  });
  return { worker, gate };
}

function getPeer(
  { worker, gate }: StartedThread,
  gates: ExitGates,
  { onAnswer, onDeath, onEnd }: PeerEvents,
  interruptible: boolean,
): Peer {
  const die = (reason: string, details: DeathDetails): void => {
    gates.close(gate);
    onDeath(reason, details);
  };
  worker.on("message", (message: AnswerMessage) => onAnswer(message));
  worker.on("error", (cause: unknown) => die(`the worker failed: ${getMessage(cause)}`, { cause }));
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
    send: (message) => worker.postMessage(message, getPorts(message) as readonly MessagePort[]),
    setBusy: (state) => (state === "busy" ? worker.ref() : worker.unref()),
    markHung() {
      worker.unref();
      gates.markHung(gate);
    },
    end: kill,
    kill,
  };
}
