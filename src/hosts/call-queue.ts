/**
 * A peer and the queue of its calls. Calls wait in the host, so that an aborted one never reaches the engine. A peer is ended
 * between calls if possible (`end`), and at once if no caller waits for it or it hangs (`kill`).
 */
import type { LoadedModel, ProgramCounts } from "../contract/backend.ts";
import { InferyardError, throwIfAborted, wrapError } from "../contract/errors.ts";
import { abortable } from "../concurrency/abortable.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import type { DeathDetails, Peer, StartPeer } from "./peer.ts";
import type { AnswerMessage, Call, ModelDescription, Results } from "./protocol.ts";
import type { Supervision } from "./supervision.ts";

interface Pending {
  readonly message: Call;
  settle(result: Results[keyof Results]): void;
  fail(error: InferyardError): void;
  /** Time at which it was sent to the peer, by `performance.now()`. */
  sentAt: number;
  /** The caller has aborted; the peer still computes. */
  abandoned: boolean;
}

/** Maximum milliseconds that an ending peer may spend on a call for which no caller waits, and then on freeing the model. */
const maxFreeMs = 2_000;
/** Milliseconds after which a run whose caller has aborted counts as a hang, if other calls wait. */
const maxAbandonedMs = 30_000;

/** Sends calls to one peer, one at a time, and ends the peer. */
export class CallQueue {
  readonly #peer: Peer;
  readonly #supervision: Supervision;
  readonly #queue: Pending[] = [];
  readonly #description: Promise<ModelDescription>;
  #running: Pending | undefined;
  /** Whether the peer has an unanswered call, including one that already failed in the host. */
  #isBusy = false;
  #calls = 0;
  #death: InferyardError | undefined;
  #memory: LoadedModel["memory"] | undefined;
  #heldBytes = 0;
  #programs: ProgramCounts | undefined;
  #runTimer: ReturnType<typeof setTimeout> | undefined;
  #abandonTimer: ReturnType<typeof setTimeout> | undefined;
  /** Called when the peer is idle or gone. */
  readonly #idleListeners: (() => void)[] = [];
  #isGone = false;
  #end: Promise<void> | undefined;
  #kill: Promise<void> | undefined;
  /** Timers that kill the peer; cleared when it has ended. */
  readonly #endTimers = new Set<ReturnType<typeof setTimeout>>();
  /** Whether the peer has loaded the model. */
  loaded = false;

  constructor(start: StartPeer, load: Extract<Call, { operation: "load" }>, supervision: Supervision, interruptible = false) {
    this.#supervision = supervision;
    const events = {
      onAnswer: (message: AnswerMessage) => this.#answer(message),
      onDeath: (reason: string, details?: DeathDetails) => this.#die(reason, details),
      onEnd: () => {},
    };
    this.#peer = start(events, interruptible);
    this.#description = this.call<"load">(load);
    this.#description.then(
      () => (this.loaded = true),
      () => this.end(), // the failure itself is thrown by description()
    );
  }

  /** Whether the peer has died or is being ended. */
  get ended(): boolean {
    return this.#death !== undefined;
  }

  /** "worker" or "process", for messages. */
  get kind(): string {
    return this.#peer.kind;
  }

  /** Peak memory that the peer reported. Undefined if it reports none. */
  get memory(): LoadedModel["memory"] | undefined {
    return this.#memory;
  }

  /** Counts of the programs of the model, as the peer reported them with its last answer; see `ModelBase.programs`. */
  get programs(): ProgramCounts | undefined {
    return this.#programs;
  }

  /** Bytes that the peer reported with its last answer; 0 if it reports none. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Milliseconds since the current call was sent; 0 if there is none. */
  get runningMs(): number {
    return this.#running === undefined ? 0 : performance.now() - this.#running.sentAt;
  }

  /** Waits until the model is loaded. */
  description(signal: AbortSignal | undefined): Promise<ModelDescription> {
    return abortable(this.#description, signal);
  }

  /** Queues a call: after the calls that wait ("last"), or before them ("next"). Rejects with the error of the death if the peer has died. */
  call<Operation extends keyof Results>(
    message: Call & { operation: Operation },
    signal?: AbortSignal,
    position: "last" | "next" = "last",
  ): Promise<Results[Operation]> {
    throwIfAborted(signal);
    if (this.#death !== undefined) return Promise.reject(this.#death);
    return this.#enqueue<Operation>(message, signal, position);
  }

  /**
   * Frees the model and ends the peer after the calls that have a caller: waits at most `waitMs` for these, and a few seconds for the others. A peer that needs
   * longer is killed. Resolves when its memory is free.
   */
  end(waitMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    this.#end ??= this.#endBetweenCalls().finally(() => {
      for (const timer of this.#endTimers) clearTimeout(timer);
    });
    if (this.#isBusy && waitMs < Number.POSITIVE_INFINITY) this.#killAfter(waitMs);
    return this.#end;
  }

  /**
   * Kills the peer at once, or after its current call if its thread cannot be terminated. Its calls fail. Resolves when its
   * memory is free.
   */
  kill(): Promise<void> {
    this.#kill ??= this.#killWhenSafe();
    return this.#kill;
  }

  #enqueue<Operation extends keyof Results>(
    message: Call & { operation: Operation },
    signal?: AbortSignal,
    position: "last" | "next" = "last",
  ): Promise<Results[Operation]> {
    let abandon = (): void => {};
    const result = new Promise<Results[Operation]>((resolve, reject) => {
      const settle: Pending["settle"] = (value) => resolve(value as Results[Operation]);
      const pending: Pending = { message, settle, fail: reject, sentAt: 0, abandoned: false };
      abandon = () => this.#abandon(pending);
      if (position === "next") this.#queue.unshift(pending);
      else this.#queue.push(pending);
    });
    this.#next();
    this.#watchAbandoned();
    return abortable(result, signal, abandon);
  }

  async #endBetweenCalls(): Promise<void> {
    if (this.#death === undefined) {
      this.#death = disposed();
      if (!this.#isAwaited()) this.#killAfter(maxFreeMs);
      await this.#free();
      if (this.#isGone || this.#kill !== undefined) return this.kill();
      const disposal = this.#enqueue<"dispose">({ operation: "dispose" });
      this.#killAfter(maxFreeMs);
      await disposal.catch(() => null); // the peer is ended even if it cannot free its model
    }
    await (this.#kill ?? this.#peer.end());
  }

  async #killWhenSafe(): Promise<void> {
    this.#fail((this.#death ??= disposed()));
    if (!this.#peer.interruptible) {
      if (this.#isBusy) this.#peer.markHung?.();
      await this.#free();
    }
    await this.#peer.kill();
    this.#gone(); // not every peer reports its end
  }

  #killAfter(milliseconds: number): void {
    if (milliseconds <= 0) return void this.kill();
    this.#endTimers.add(setTimeout(() => void this.kill(), milliseconds));
  }

  /** Whether a call has a caller. */
  #isAwaited(): boolean {
    return this.#queue.length > 0 || this.#running?.abandoned === false;
  }

  /** Resolves when the peer is idle. */
  async #free(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#idleListeners.push(resolve));
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#queue.shift();
    if (this.#running === undefined) {
      for (const tell of this.#idleListeners.splice(0)) tell();
      return this.#peer.setBusy("idle");
    }
    this.#peer.setBusy("busy");
    this.#calls += 1;
    this.#isBusy = true;
    this.#running.sentAt = performance.now();
    try {
      this.#peer.send({ ...this.#running.message, number: this.#calls });
      this.#limitRun(this.#running);
    } catch (error) {
      this.#refuse(this.#running, error);
    }
  }

  /** The call contains a value that cannot be cloned, for example a typed array whose buffer was detached. */
  #refuse(call: Pending, thrown: unknown): void {
    const { operation } = call.message;
    this.#running = undefined;
    this.#isBusy = false;
    const code = operation === "load" ? "CONTRACT_VIOLATION" : "INPUT_INVALID";
    call.fail(wrapError(thrown, code, `the arguments of ${operation} cannot be sent to the ${this.#peer.kind}`));
    this.#next();
  }

  #answer(message: AnswerMessage): void {
    this.#heldBytes = message.memory?.bytes ?? 0;
    this.#programs = message.programs;
    // The peak is kept: the system reclaims pages of an idle process, and they return when it works.
    if ((message.memory?.bytes ?? 0) > (this.#memory?.bytes ?? 0)) this.#memory = message.memory;
    const running = this.#running;
    this.#clearRunning();
    if (message.ok) running?.settle(message.result);
    else running?.fail(InferyardError.fromJSON(message.error));
    this.#next();
  }

  /** Forgets the current call and its timers, since the peer has answered or is gone. */
  #clearRunning(): void {
    this.#running = undefined;
    this.#isBusy = false;
    clearTimeout(this.#runTimer);
    clearTimeout(this.#abandonTimer);
    this.#abandonTimer = undefined;
  }

  #abandon(pending: Pending): void {
    pending.abandoned = true;
    const index = this.#queue.indexOf(pending);
    if (index !== -1) this.#queue.splice(index, 1);
    if (this.#end !== undefined && !this.#isAwaited()) this.#killAfter(maxFreeMs);
    this.#watchAbandoned();
  }

  #limitRun({ message }: Pending): void {
    const { maxRunMs } = this.#supervision;
    if (message.operation !== "run" || maxRunMs === undefined) return;
    this.#runTimer = unrefTimeout(() => this.#endHungPeer(`a run has taken longer than ${maxRunMs} ms (runTimeout)`), maxRunMs);
  }

  /** Starts the timer for an abandoned run once other calls wait behind it. */
  #watchAbandoned(): void {
    if (this.#abandonTimer !== undefined || this.#running?.abandoned !== true || this.#queue.length === 0) return;
    const waitMs = Math.min(maxAbandonedMs, this.#supervision.maxRunMs ?? maxAbandonedMs);
    this.#abandonTimer = unrefTimeout(() => {
      this.#abandonTimer = undefined;
      if (this.#queue.length > 0) this.#endHungPeer(`a cancelled run has kept others waiting for ${waitMs} ms`);
    }, waitMs);
  }

  #endHungPeer(reason: string): void {
    if (this.#running === undefined) return;
    if (this.#death !== undefined) return void this.kill(); // it was being ended
    this.#fail(this.#getDeath(`the ${this.#peer.kind} was ended, since ${reason}`, { facts: { hung: true } }, this.runningMs));
    void this.kill();
  }

  #die(reason: string, details?: DeathDetails): void {
    const death = this.#getDeath(reason, details);
    this.#fail(death);
    this.#gone();
  }

  #gone(): void {
    this.#isGone = true;
    this.#isBusy = false;
    for (const tell of this.#idleListeners.splice(0)) tell();
  }

  #getDeath(reason: string, { cause, facts = {} }: DeathDetails = {}, hungMs?: number): InferyardError {
    const waitMs = this.#death === undefined ? this.#supervision.died(reason, hungMs) : 0;
    const death = hostDied(reason, this.#peer.kind, waitMs, { cause, data: facts });
    this.#death ??= death;
    return death;
  }

  /** Fails all calls with this error. */
  #fail(error: InferyardError): void {
    const isBusy = this.#isBusy;
    for (const pending of [this.#running, ...this.#queue.splice(0)]) pending?.fail(error);
    this.#clearRunning();
    this.#isBusy = isBusy; // the peer itself may still compute
  }
}

/**
 * The HOST_DIED error of calls to a peer that died. `kind`: "worker" or "process". `waitMs`: delay of the next start in
 * milliseconds.
 */
export function hostDied(
  reason: string,
  kind: string,
  waitMs: number,
  details: { readonly cause?: unknown; readonly data?: Readonly<Record<string, unknown>> } = {},
): InferyardError {
  return new InferyardError("HOST_DIED", `${reason}; its requests are lost, and the next one starts a new ${kind}`, {
    ...details,
    remedy: "send the request again",
    ...(waitMs > 0 ? { retryAfterMs: Math.ceil(waitMs) } : {}),
  });
}

function disposed(): InferyardError {
  return new InferyardError("DISPOSED", "this model was disposed");
}
