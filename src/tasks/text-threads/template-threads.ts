/**
 * Worker threads that render chat templates, which are programs of strangers: each with a heap limit, each call with a timeout. One model holds one thread at most, and
 * models take turns, so that a template that runs into its timeout delays its own model alone. Other threads than those of long texts, which would delay every chat.
 */
import { Worker } from "node:worker_threads";
import { InferyardError, messageOf } from "../../contract/errors.ts";
import { moduleArguments } from "../../hosts/node-arguments.ts";
import { type RenderCall, beyondBound } from "../../templates/render-call.ts";
import type { ResultMessage } from "./protocol.ts";

/** Maximum number of threads. */
const threadCount = 2;
/** Idle time in milliseconds after which a thread ends. A thread takes about 5 MB, and its start delays the next chat. */
const idleMs = 600_000;
/** The same for a thread whose heap has grown, and length of the variables that make it grow. */
const grownIdleMs = 2000;
const grownCharacters = 200_000;
/** Maximum number of queued calls: of one model, and of all. */
const maxQueuedOfModel = 256;
const maxQueued = 1024;

interface Call {
  readonly owner: object;
  readonly message: { readonly args: RenderCall };
  readonly resolve: (text: string) => void;
  readonly reject: (error: InferyardError) => void;
}

interface Thread {
  readonly worker: Worker;
  hasGrown: boolean;
  call: Call | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Settings of the threads. */
export interface TemplateThreadSettings {
  /** Maximum time of one rendering in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum heap of a thread in MiB. */
  readonly heapMebibytes: number;
  /** Script of the threads. */
  readonly program: URL;
}

/** The threads of one runtime. */
export class TemplateThreads {
  readonly #settings: TemplateThreadSettings;
  readonly #threads = new Set<Thread>();
  /** Queued calls of each model, the model that is served next first. */
  readonly #queues = new Map<object, Call[]>();
  #queued = 0;
  #disposed = false;

  constructor(settings: TemplateThreadSettings) {
    this.#settings = settings;
  }

  /** Renders a template of a model. */
  render(owner: object, args: RenderCall): Promise<string> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(owner) ?? [];
      if (this.#disposed) return reject(disposedError());
      if (this.#queued >= maxQueued || queue.length >= maxQueuedOfModel) return reject(queueFull(queue.length));
      queue.push({ owner, message: { args }, resolve, reject });
      this.#queues.set(owner, queue);
      this.#queued += 1;
      return this.#startQueued();
    });
  }

  /** Starts a thread if none runs. */
  prepare(): void {
    if (this.#threads.size === 0 && !this.#disposed) this.#markIdle(this.#start());
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const queue of this.#queues.values()) for (const call of queue) call.reject(disposedError());
    this.#queues.clear();
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, disposedError())));
  }

  #startQueued(): void {
    for (;;) {
      const idle = [...this.#threads].find(({ call }) => call === undefined);
      if (idle === undefined && this.#threads.size >= threadCount) return;
      const call = this.#takeQueued();
      if (call === undefined) return;
      this.#assign(idle ?? this.#start(), call);
    }
  }

  /** The next call of the model that has waited longest since its last one, of those that hold no thread. */
  #takeQueued(): Call | undefined {
    for (const [owner, queue] of this.#queues) {
      if ([...this.#threads].some(({ call }) => call?.owner === owner)) continue;
      const call = queue.shift();
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue); // behind the others
      if (call === undefined) continue;
      this.#queued -= 1;
      return call;
    }
    return undefined;
  }

  #assign(thread: Thread, call: Call): void {
    const { timeoutMs } = this.#settings;
    clearTimeout(thread.timer);
    thread.call = call;
    thread.worker.ref();
    const exceeded = beyondBound(`takes longer than ${timeoutMs} ms`, { bound: "milliseconds", limit: timeoutMs });
    thread.timer = setTimeout(() => void this.#end(thread, exceeded), timeoutMs);
    thread.worker.postMessage(call.message);
  }

  #start(): Thread {
    const { program, heapMebibytes } = this.#settings;
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      execArgv: moduleArguments(process.execArgv), // other arguments would override the heap limit
    });
    const thread: Thread = { worker, hasGrown: false, call: undefined, timer: undefined };
    this.#threads.add(thread);
    worker.on("message", (result: ResultMessage) => {
      const { call } = thread;
      thread.hasGrown ||= !result.ok || (call?.message.args.variables.length ?? 0) > grownCharacters;
      this.#markIdle(thread);
      if (result.ok) call?.resolve(result.result as string);
      else call?.reject(InferyardError.fromJSON(result.error));
      this.#startQueued();
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      const failure =
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? beyondBound(`takes more than ${heapMebibytes} MiB of memory`, { bound: "heapMebibytes", limit: heapMebibytes })
          : new InferyardError("HOST_DIED", `the thread that renders chat templates failed: ${messageOf(error)}`, {
              cause: error,
            });
      void this.#end(thread, failure);
    });
    worker.on("exit", (code) => {
      void this.#end(thread, new InferyardError("HOST_DIED", `the thread that renders chat templates ended with code ${code}`));
    });
    return thread;
  }

  #markIdle(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.call = undefined;
    thread.worker.unref();
    thread.timer = setTimeout(() => void this.#end(thread), thread.hasGrown ? grownIdleMs : idleMs);
    thread.timer.unref();
  }

  async #end(thread: Thread, error?: InferyardError): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    const { call } = thread;
    thread.call = undefined;
    if (error !== undefined) call?.reject(error);
    if (!this.#disposed) this.#startQueued();
    await thread.worker.terminate();
  }
}

function queueFull(queuedOfModel: number): InferyardError {
  const message =
    queuedOfModel >= maxQueuedOfModel
      ? `${maxQueuedOfModel} conversations of this model wait for its chat template, the maximum`
      : `${maxQueued} conversations wait for chat templates, the maximum`;
  return new InferyardError("QUEUE_FULL", message, { remedy: "retry later", retryAfterMs: 1000 });
}

function disposedError(): InferyardError {
  return new InferyardError("DISPOSED", "the runtime was disposed of while a chat template was rendered");
}
