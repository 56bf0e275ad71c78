/**
 * Worker threads that render chat templates, which are programs of strangers: each with a heap limit, each call with a timeout. One model holds one thread at most, models
 * whose last rendering took long leave one thread to the others, and models take turns, so that a template that runs into its timeout delays its own model alone. Separate
 * from the threads of long texts, which would delay every chat.
 */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { type RenderCall, beyondBound } from "../../templates/render-call.ts";
import { CallThread, ThreadFailure } from "../threads/call-thread.ts";
import type { ResultMessage } from "../threads/thread-program.ts";

/** Maximum number of threads. */
const threadCount = 2;
/** Time of a rendering in milliseconds from which on its model is slow. */
const slowMs = 50;
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
  readonly message: RenderMessage;
  readonly resolve: (text: string) => void;
  readonly reject: (error: InferyardError) => void;
}

/** Message to a thread: one rendering. */
export interface RenderMessage {
  readonly args: RenderCall;
}

type Thread = CallThread<RenderMessage, ResultMessage<string>>;

interface ThreadUse {
  hasGrown: boolean;
  call: Call | undefined;
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
  readonly #threads = new Map<Thread, ThreadUse>();
  /** Queued calls of each model, the model that is served next first. */
  readonly #queues = new Map<object, Call[]>();
  /** Models whose last rendering took long. */
  readonly #slow = new WeakSet<object>();
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
    if (this.#threads.size === 0 && !this.#disposed) this.#start().rest(idleMs);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const queue of this.#queues.values()) for (const call of queue) call.reject(disposedError());
    this.#queues.clear();
    await Promise.all([...this.#threads.keys()].map((thread) => thread.end()));
  }

  #startQueued(): void {
    for (;;) {
      const [idle] = [...this.#threads].find(([, { call }]) => call === undefined) ?? [];
      if (this.#disposed || (idle === undefined && this.#threads.size >= threadCount)) return;
      const call = this.#takeQueued();
      if (call === undefined) return;
      void this.#perform(idle ?? this.#start(), call);
    }
  }

  /** The next call of the model that has waited longest since its last one, of those that may have a thread. */
  #takeQueued(): Call | undefined {
    const running = [...this.#threads.values()].flatMap(({ call }) => call?.owner ?? []);
    const isFull = running.filter((owner) => this.#slow.has(owner)).length >= threadCount - 1;
    for (const [owner, queue] of this.#queues) {
      if (running.includes(owner) || (isFull && this.#slow.has(owner))) continue;
      const call = queue.shift();
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue); // after the others
      if (call === undefined) continue;
      this.#queued -= 1;
      return call;
    }
    return undefined;
  }

  async #perform(thread: Thread, call: Call): Promise<void> {
    const { timeoutMs } = this.#settings;
    const use = this.#threads.get(thread) ?? { hasGrown: false, call };
    use.call = call;
    try {
      const rendering = thread.perform(call.message);
      thread.endAfter(timeoutMs);
      const result = await rendering;
      this.#setSlow(call.owner, result.tookMs > slowMs);
      use.hasGrown ||= !result.ok || call.message.args.variables.length > grownCharacters;
      if (result.ok) call.resolve(result.result);
      else call.reject(InferyardError.fromJSON(result.error));
    } catch (failure) {
      this.#setSlow(call.owner, true);
      call.reject(this.#getError(failure));
    } finally {
      use.call = undefined;
      thread.rest(use.hasGrown ? grownIdleMs : idleMs);
      this.#startQueued();
    }
  }

  #setSlow(owner: object, isSlow: boolean): void {
    if (isSlow) this.#slow.add(owner);
    else this.#slow.delete(owner);
  }

  #start(): Thread {
    const { program, heapMebibytes } = this.#settings;
    const thread: Thread = new CallThread({ program, heapMebibytes, onEnd: () => this.#threads.delete(thread) });
    this.#threads.set(thread, { hasGrown: false, call: undefined });
    return thread;
  }

  #getError(failure: unknown): InferyardError {
    const { timeoutMs, heapMebibytes } = this.#settings;
    const kind = failure instanceof ThreadFailure ? failure.kind : "ended";
    if (this.#disposed) return disposedError();
    if (kind === "time") return beyondBound(`takes longer than ${timeoutMs} ms`, { bound: "milliseconds", limit: timeoutMs });
    if (kind === "memory")
      return beyondBound(`takes more than ${heapMebibytes} MiB of memory`, { bound: "heapMebibytes", limit: heapMebibytes });
    return new InferyardError("HOST_DIED", `rendering a chat template: ${getMessage(failure)}`, { cause: failure });
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
