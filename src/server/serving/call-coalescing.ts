/** Coalesces concurrent calls with equal keys: the first one that gets its turn does the work for all of them. */
import { abortable } from "../../concurrency/abortable.ts";
import { type Deferred, deferred } from "../../concurrency/deferred.ts";
import { throwIfAborted } from "../../contract/errors.ts";

/** One call of a model that may share its result with other calls of the same key. */
export interface CoalescedCall<Result> {
  /** Calls with equal keys share one result. */
  readonly key: string | symbol;
  /** Aborted when this caller leaves; the others are not affected. */
  readonly signal: AbortSignal;
  /** Runs `work` when it is this call's turn. Stops waiting when the signal is aborted. */
  readonly schedule: (signal: AbortSignal, work: () => Promise<void>) => Promise<void>;
  /** Computes the result. The signal is aborted when no caller waits for it any more. */
  readonly work: (signal: AbortSignal) => Promise<Result>;
  /** Copies the result for each caller where several share it, so that none can change another's. */
  readonly copy: (result: Result) => Result;
}

/** Result of a call, with who computed it. */
export interface CoalescedResult<Result> {
  readonly result: Result;
  /** Whether this call did the work, and not another one with the same key. */
  readonly isOwn: boolean;
  /** When the work began, by `performance.now()`. */
  readonly startedAt: number;
}

/** Work that several calls wait for. */
interface Flight<Result> {
  readonly outcome: Deferred<() => Result>;
  /** Aborted when the work begins: calls that still wait for their turn need none. */
  readonly started: AbortController;
  /** Aborted when no call waits for the result any more. */
  readonly abandoned: AbortController;
  callers: number;
  startedAt: number;
}

/** Runs concurrent calls with equal keys once (the single-flight pattern of groupcache). */
export class CallCoalescer {
  readonly #flights = new Map<string | symbol, Flight<unknown>>();

  /**
   * The result of the call. Every call waits in its own place of the queue, and the first that gets its turn works for all, so that none waits
   * longer than it would alone. All callers share a failure. Throws ABORTED if the caller leaves.
   */
  async run<Result>(call: CoalescedCall<Result>): Promise<CoalescedResult<Result>> {
    const { key, signal } = call;
    throwIfAborted(signal);
    // Calls with equal keys have results of the same type.
    const flight = (this.#flights.get(key) as Flight<Result> | undefined) ?? this.#startFlight<Result>(key);
    flight.callers += 1;
    let isOwn = false;
    try {
      const races = [flight.outcome.promise];
      if (!flight.started.signal.aborted) {
        races.push(this.#waitForTurn(call, flight, () => (isOwn = true)));
      }
      const takeResult = await abortable(Promise.race(races), signal);
      return { result: takeResult(), isOwn, startedAt: flight.startedAt };
    } finally {
      flight.callers -= 1;
      // No caller is left and the work has not ended: a new call with this key starts anew.
      if (flight.callers === 0 && this.#forget(key, flight)) flight.abandoned.abort(signal.reason);
    }
  }

  /** Waits for the turn of this call and does the work unless another call has begun it. Rejects if the call gets no turn; never resolves. */
  #waitForTurn<Result>(call: CoalescedCall<Result>, flight: Flight<Result>, onTurn: () => void): Promise<never> {
    const waiting = AbortSignal.any([call.signal, flight.started.signal]);
    const turn = call.schedule(waiting, async () => {
      if (flight.started.signal.aborted) return; // two calls had their turn at once
      onTurn();
      flight.startedAt = performance.now();
      flight.started.abort("started");
      await this.#work(call, flight);
    });
    return new Promise((_resolve, reject) => {
      turn.catch((error: unknown) => {
        if (!flight.started.signal.aborted) reject(error);
      });
    });
  }

  async #work<Result>({ key, work, copy }: CoalescedCall<Result>, flight: Flight<Result>): Promise<void> {
    try {
      const result = await work(flight.abandoned.signal);
      const alone = flight.callers === 1;
      flight.outcome.resolve(() => (alone ? result : copy(result)));
    } catch (error) {
      flight.outcome.reject(error);
    } finally {
      this.#forget(key, flight); // a result is shared only while it is computed
    }
  }

  #startFlight<Result>(key: string | symbol): Flight<Result> {
    const outcome = deferred<() => Result>();
    outcome.promise.catch(() => {}); // every caller may have left
    const flight = { outcome, started: new AbortController(), abandoned: new AbortController(), callers: 0, startedAt: 0 };
    this.#flights.set(key, flight as Flight<unknown>);
    return flight;
  }

  /** Whether the flight was still registered. */
  #forget(key: string | symbol, flight: object): boolean {
    return this.#flights.get(key) === flight && this.#flights.delete(key);
  }
}
