/**
 * One peer and the queue of its calls. Calls wait here, not over there, so that a cancelled one never reaches the engine. A peer is only
 * ended between calls: ending a thread inside a native engine would abort the process.
 */
import type { LoadedModel } from "../backend.ts";
import { InferyardError, abortError, throwIfAborted, wrapError } from "../errors.ts";
import type { DeathDetails, Peer, StartPeer } from "./peer.ts";
import type { AnswerMessage, Call, ModelDescription, Results } from "./protocol.ts";
import type { Supervision } from "./supervision.ts";

interface Pending {
  readonly message: Call;
  settle(result: Results[keyof Results]): void;
  fail(error: InferyardError): void;
}

export class CallQueue {
  readonly #peer: Peer;
  readonly #supervision: Supervision;
  readonly #queue: Pending[] = [];
  readonly #description: Promise<ModelDescription>;
  #running: Pending | undefined;
  #calls = 0;
  #death: InferyardError | undefined;
  #memory: LoadedModel["memory"] | undefined;
  #holds = 0;
  loaded = false;

  constructor(start: StartPeer, load: Extract<Call, { operation: "load" }>, supervision: Supervision) {
    this.#supervision = supervision;
    this.#peer = start({
      onAnswer: (message) => this.#answer(message),
      onDeath: (reason, details) => this.#die(reason, details),
      onEnd: () => {},
    });
    this.#description = this.call<"load">(load);
    this.#description.then(
      () => (this.loaded = true),
      () => this.end(), // the failure itself reaches whoever waits in description()
    );
  }

  get ended(): boolean {
    return this.#death !== undefined;
  }

  /** The most memory the peer said it takes; undefined where it says nothing. */
  get memory(): LoadedModel["memory"] | undefined {
    return this.#memory;
  }

  /** Bytes the peer said it holds when it last answered; 0 where it says nothing. */
  get holds(): number {
    return this.#holds;
  }

  /** Waits for the model to be loaded. */
  description(signal: AbortSignal | undefined): Promise<ModelDescription> {
    return abandonable(this.#description, signal);
  }

  /** "next": before those that wait. */
  call<Operation extends keyof Results>(
    message: Call & { operation: Operation },
    signal?: AbortSignal,
    place: "last" | "next" = "last",
  ): Promise<Results[Operation]> {
    throwIfAborted(signal);
    if (this.#death !== undefined) return Promise.reject(this.#death);
    let pending: Pending | undefined;
    const result = new Promise<Results[Operation]>((resolve, reject) => {
      pending = { message, settle: (value) => resolve(value as Results[Operation]), fail: reject };
      if (place === "next") this.#queue.unshift(pending);
      else this.#queue.push(pending);
    });
    this.#next();
    return abandonable(result, signal, () => this.#drop(pending));
  }

  /** Waits for the calls in the queue, frees the model and ends the peer. */
  async end(): Promise<void> {
    if (this.#death === undefined) {
      const disposal = this.call<"dispose">({ operation: "dispose" });
      this.#death = new InferyardError("DISPOSED", "this model was disposed");
      await disposal.catch(() => null); // a peer that cannot free its model is ended all the same
    }
    await this.#peer.end();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#queue.shift();
    if (this.#running === undefined) return this.#peer.hold("idle");
    this.#peer.hold("busy");
    this.#calls += 1;
    try {
      this.#peer.send({ ...this.#running.message, number: this.#calls });
    } catch (error) {
      this.#refuse(this.#running, error);
    }
  }

  /** The call holds what cannot be copied to another thread, for example a typed array whose buffer was given away. */
  #refuse(call: Pending, thrown: unknown): void {
    const { operation } = call.message;
    this.#running = undefined;
    const code = operation === "load" ? "CONTRACT_VIOLATION" : "INPUT_INVALID";
    call.fail(wrapError(thrown, code, `what ${operation} was given cannot be handed to the ${this.#peer.kind}`));
    this.#next();
  }

  #answer(message: AnswerMessage): void {
    this.#holds = message.memory?.bytes ?? 0;
    // The most that was seen: a system takes pages back from a process at rest, and they return when it works.
    if ((message.memory?.bytes ?? 0) > (this.#memory?.bytes ?? 0)) this.#memory = message.memory;
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

  #die(reason: string, { cause, facts = {} }: DeathDetails = {}): void {
    const waitMs = this.#death === undefined ? this.#supervision.died(reason) : 0;
    const death = new InferyardError(
      "HOST_DIED",
      `${reason}; its requests are lost, and the next one starts a new ${this.#peer.kind}`,
      { cause, remedy: "send the request again", data: facts, ...(waitMs > 0 ? { retryAfterMs: Math.ceil(waitMs) } : {}) },
    );
    this.#death ??= death;
    for (const pending of [this.#running, ...this.#queue.splice(0)]) pending?.fail(death);
    this.#running = undefined;
  }
}

/** The promise, or ABORTED as soon as the signal says so; work that has begun goes on unseen. */
export function abandonable<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
  onAbandon: () => void = () => {},
): Promise<Result> {
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
