/** The host that keeps the event loop free: each loaded model has a worker thread of its own. */
import { Worker } from "node:worker_threads";
import type { Backend, BackendEntry, LoadOptions, LoadedModel, RunOptions } from "../backend.ts";
import { InferyardError, abortError, messageOf, throwIfAborted, wrapError } from "../errors.ts";
import type { TensorMap } from "../tensor.ts";
import { ExitGates } from "./exit-gate.ts";
import type { Host } from "./host.ts";
import type { AnswerMessage, Call, ModelDescription, Results, WorkerData } from "./protocol.ts";

export function workerHost(): Host {
  const gates = new ExitGates();
  return {
    name: "worker",
    async load(backend, model, device, options) {
      throwIfAborted(options.signal);
      const start = (): Thread =>
        new Thread(gates, { operation: "load", entry: entryOf(backend), model, device, settings: settingsOf(options) });
      return WorkerModel.load(start, options.signal);
    },
    dispose: async () => {},
  };
}

function entryOf(backend: Backend): BackendEntry {
  if (backend.entry !== undefined) return backend.entry;
  throw new InferyardError("CONTRACT_VIOLATION", `backend "${backend.name}" declares no entry, so it cannot run on a worker`, {
    remedy: 'declare `entry`, or set host to "inline"',
  });
}

function settingsOf({ signal: _signal, ...settings }: LoadOptions): Omit<LoadOptions, "signal"> {
  return settings;
}

/** A model in a worker. When the worker dies its calls end with HOST_DIED, and the next call starts a new one. */
class WorkerModel implements LoadedModel {
  readonly kind = "tensor";
  readonly inputs: LoadedModel["inputs"];
  readonly outputs: LoadedModel["outputs"];
  readonly library: LoadedModel["library"];
  readonly memory: LoadedModel["memory"];
  readonly #start: () => Thread;
  #thread: Thread;
  #disposal: Promise<void> | undefined;

  private constructor(start: () => Thread, thread: Thread, description: ModelDescription) {
    this.#start = start;
    this.#thread = thread;
    this.inputs = description.inputs;
    this.outputs = description.outputs;
    this.library = description.library;
    this.memory = description.memory;
  }

  static async load(start: () => Thread, signal: AbortSignal | undefined): Promise<WorkerModel> {
    const thread = start();
    try {
      return new WorkerModel(start, thread, await thread.description(signal));
    } catch (error) {
      void thread.end();
      throw error;
    }
  }

  async run(inputs: TensorMap, options: RunOptions = {}): Promise<TensorMap> {
    const { outputs, signal } = options;
    const thread = await this.#alive(signal);
    return thread.call<"run">({ operation: "run", inputs, ...(outputs === undefined ? {} : { outputs }) }, signal);
  }

  async evidence(): Promise<readonly string[]> {
    const thread = await this.#alive();
    return thread.call<"evidence">({ operation: "evidence" });
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#thread.end();
    return this.#disposal;
  }

  async #alive(signal?: AbortSignal): Promise<Thread> {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "this model was disposed");
    if (this.#thread.ended) this.#thread = this.#start();
    const thread = this.#thread;
    if (!thread.loaded) await thread.description(signal);
    return thread;
  }
}

interface Pending {
  readonly message: Call;
  settle(result: Results[keyof Results]): void;
  fail(error: InferyardError): void;
}

/**
 * One worker and the queue of its calls. Calls wait here, not in the worker, so that a cancelled one never reaches it. A worker is only
 * terminated between calls: ending it inside a native engine would abort the process.
 */
class Thread {
  readonly #gates: ExitGates;
  readonly #gate: SharedArrayBuffer;
  readonly #worker: Worker;
  readonly #queue: Pending[] = [];
  readonly #description: Promise<ModelDescription>;
  #running: Pending | undefined;
  #calls = 0;
  #death: InferyardError | undefined;
  loaded = false;

  constructor(gates: ExitGates, load: Extract<Call, { operation: "load" }>) {
    this.#gates = gates;
    this.#gate = gates.open();
    const workerData: WorkerData = { gate: this.#gate };
    this.#worker = new Worker(new URL("./worker-thread.js", import.meta.url), { workerData, ...ownArguments() });
    this.#worker.on("message", (message: AnswerMessage) => this.#answer(message));
    this.#worker.on("error", (cause: unknown) => this.#die(`the worker failed: ${messageOf(cause)}`, cause));
    this.#worker.on("exit", (code) => this.#die(`the worker ended with code ${code}`));
    this.#description = this.call<"load">(load);
    this.#description.then(
      () => (this.loaded = true),
      () => this.end(), // the failure itself reaches whoever waits in description()
    );
  }

  get ended(): boolean {
    return this.#death !== undefined;
  }

  /** Waits for the model to be loaded. */
  description(signal: AbortSignal | undefined): Promise<ModelDescription> {
    return abandonable(this.#description, signal, () => {});
  }

  call<Operation extends keyof Results>(
    message: Call & { operation: Operation },
    signal?: AbortSignal,
  ): Promise<Results[Operation]> {
    throwIfAborted(signal);
    if (this.#death !== undefined) return Promise.reject(this.#death);
    let pending: Pending | undefined;
    const result = new Promise<Results[Operation]>((resolve, reject) => {
      pending = { message, settle: (value) => resolve(value as Results[Operation]), fail: reject };
      this.#queue.push(pending);
    });
    this.#next();
    return abandonable(result, signal, () => this.#drop(pending));
  }

  /** Waits for the calls in the queue, frees the model and ends the worker. */
  async end(): Promise<void> {
    if (this.#death === undefined) {
      const disposal = this.call<"dispose">({ operation: "dispose" });
      this.#death = new InferyardError("DISPOSED", "this model was disposed");
      await disposal.catch(() => null); // a worker that cannot free its model is ended all the same
    }
    await this.#worker.terminate();
    this.#gates.close(this.#gate);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#queue.shift();
    if (this.#running === undefined) {
      this.#worker.unref();
      return;
    }
    this.#worker.ref();
    this.#calls += 1;
    try {
      this.#worker.postMessage({ ...this.#running.message, number: this.#calls });
    } catch (error) {
      this.#refuse(this.#running, error);
    }
  }

  /** The call holds what cannot be copied to another thread, for example a typed array whose buffer was given away. */
  #refuse(call: Pending, thrown: unknown): void {
    const { operation } = call.message;
    this.#running = undefined;
    const code = operation === "load" ? "CONTRACT_VIOLATION" : "INPUT_INVALID";
    call.fail(wrapError(thrown, code, `what ${operation} was given cannot be handed to the worker`));
    this.#next();
  }

  #answer(message: AnswerMessage): void {
    const running = this.#running;
    this.#running = undefined;
    if (message.ok) running?.settle(message.result);
    else running?.fail(InferyardError.fromJSON(message.error));
    this.#next();
  }

  #drop(pending: Pending | undefined): void {
    const place = this.#queue.findIndex((queued) => queued === pending);
    if (place !== -1) this.#queue.splice(place, 1);
  }

  #die(reason: string, cause?: unknown): void {
    this.#gates.close(this.#gate);
    const death = new InferyardError("HOST_DIED", `${reason}; its requests are lost, and the next one starts a new worker`, {
      cause,
      remedy: "send the request again",
    });
    this.#death ??= death;
    for (const pending of [this.#running, ...this.#queue.splice(0)]) pending?.fail(death);
    this.#running = undefined;
  }
}

/** A worker inherits Node.js's own arguments, and refuses to start with one of a program that was given as text (`node --input-type=module -e`). */
function ownArguments(): { execArgv?: string[] } {
  return process.execArgv.some((argument) => argument.startsWith("--input-type")) ? { execArgv: [] } : {};
}

/** The promise, or ABORTED as soon as the signal says so; work that has begun goes on unseen. */
function abandonable<Result>(promise: Promise<Result>, signal: AbortSignal | undefined, onAbandon: () => void): Promise<Result> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abandon = (): void => {
      onAbandon();
      reject(abortError(signal));
    };
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}
