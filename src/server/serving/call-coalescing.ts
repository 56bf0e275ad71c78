/** Calls that ask the same at the same time: the first of them that has its turn does the work for all. */
import { abortError, throwIfAborted } from "../../errors.ts";

/** One call. */
export interface CoalescedCall<Result> {
  /** Calls with the same key ask the same. */
  readonly key: string | symbol;
  /** Aborted when this caller has left; the others go on. */
  readonly signal: AbortSignal;
  /** Runs work when it is this caller's turn; gives up waiting for it when the signal is aborted. */
  readonly schedule: (signal: AbortSignal, work: () => Promise<void>) => Promise<void>;
  /** `signal` is aborted when nobody waits for the result any more. */
  readonly work: (signal: AbortSignal) => Promise<Result>;
  /** So that nobody who shares a result changes another's. */
  readonly copy: (result: Result) => Result;
}

export interface CoalescedResult<Result> {
  readonly result: Result;
  /** Whether it was this caller who did the work. */
  readonly isOwn: boolean;
  /** When the work began, by `performance.now()`. */
  readonly startedAt: number;
}

/** Work that several wait for. */
interface Flight<Result> {
  readonly answer: Deferred<() => Result>;
  /** Aborted when the work has begun: who waits for a turn needs none any more. */
  readonly begin: AbortController;
  /** Aborted when nobody waits for it any more. */
  readonly end: AbortController;
  askers: number;
  begun: number;
}

export class CallCoalescer {
  readonly #flights = new Map<string | symbol, Flight<unknown>>();

  /** Every caller waits in its own place of the queue, so that none is worse off than alone. A failure is that of all who share it. */
  async run<Result>(asker: CoalescedCall<Result>): Promise<CoalescedResult<Result>> {
    const { key, signal } = asker;
    throwIfAborted(signal);
    // Who has the same key asks the same, and so gets the same kind of result.
    const joint = (this.#flights.get(key) as Flight<Result> | undefined) ?? this.#startFlight<Result>(key);
    joint.askers += 1;
    let isOwn = false;
    const leaving = whenAborted(signal);
    try {
      const races = [joint.answer.promise, leaving.promise];
      if (!joint.begin.signal.aborted) {
        races.push(this.#refusal(asker, joint, () => (isOwn = true)));
      }
      const give = await Promise.race(races);
      return { result: give(), isOwn, startedAt: joint.begun };
    } finally {
      leaving.stop();
      joint.askers -= 1;
      // Nobody is left, and it has not ended: who asks now begins anew.
      if (joint.askers === 0 && this.#forget(key, joint)) joint.end.abort();
    }
  }

  /** Waits for this caller's turn, and does the work if nobody else has begun it. Settles only where the caller gets no turn. */
  #refusal<Result>(asker: CoalescedCall<Result>, joint: Flight<Result>, onTurn: () => void): Promise<never> {
    const waiting = AbortSignal.any([asker.signal, joint.begin.signal]);
    const turn = asker.schedule(waiting, async () => {
      if (joint.begin.signal.aborted) return; // two had their turn at once
      onTurn();
      joint.begun = performance.now();
      joint.begin.abort("begun");
      await this.#work(asker, joint);
    });
    return new Promise((_resolve, reject) => {
      turn.catch((error: unknown) => {
        if (!joint.begin.signal.aborted) reject(error);
      });
    });
  }

  async #work<Result>({ key, work, copy }: CoalescedCall<Result>, joint: Flight<Result>): Promise<void> {
    try {
      const result = await work(joint.end.signal);
      const alone = joint.askers === 1;
      joint.answer.resolve(() => (alone ? result : copy(result)));
    } catch (error) {
      joint.answer.reject(error);
    } finally {
      this.#forget(key, joint); // an answer is shared while it is made, and no longer
    }
  }

  #startFlight<Result>(key: string | symbol): Flight<Result> {
    const answer = deferred<() => Result>();
    answer.promise.catch(() => {}); // all who waited may have left
    const joint = { answer, begin: new AbortController(), end: new AbortController(), askers: 0, begun: 0 };
    this.#flights.set(key, joint as Flight<unknown>);
    return joint;
  }

  /** Whether it was there still. */
  #forget(key: string | symbol, joint: object): boolean {
    return this.#flights.get(key) === joint && this.#flights.delete(key);
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** Promise.withResolvers is not in Node.js 20. */
function deferred<Value>(): Deferred<Value> {
  let resolve = (_value: Value): void => {};
  let reject = (_error: unknown): void => {};
  const promise = new Promise<Value>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { promise, resolve, reject };
}

/** A failure when the signal is aborted; `stop` ends the waiting for that. */
function whenAborted(signal: AbortSignal): { readonly promise: Promise<never>; readonly stop: () => void } {
  const { promise, reject } = deferred<never>();
  promise.catch(() => {});
  const leave = (): void => reject(abortError(signal));
  signal.addEventListener("abort", leave, { once: true });
  return { promise, stop: () => signal.removeEventListener("abort", leave) };
}
