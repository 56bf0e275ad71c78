/** Coalesces concurrent calls with equal keys: the first one that gets its turn does the work for all of them. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
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
  /** Whether the work has begun: calls that still wait for their turn need none. */
  hasStarted: boolean;
  /** The calls that wait for their turn; each is aborted when its caller leaves or another call begins the work. */
  readonly waiting: Set<AbortController>;
  /** Aborted when no call waits for the result any more. */
  readonly abandoned: AbortController;
  callers: number;
  startedAt: number;
}

/** Runs concurrent calls with equal keys once (the single-flight pattern of groupcache). */
export class CallCoalescer {
  /** The flights by key, each in an entry that forgets it at its end: a table that V8 outgrew refers to its old entries for long. */
  readonly #flights = new Map<string | symbol, { flight: Flight<unknown> | undefined }>();

  /**
   * The result of the call. Every call waits in its own place of the queue, and the first that gets its turn works for all, so that none waits
   * longer than it would alone. All callers share a failure. Throws ABORTED if the caller leaves.
   */
  async run<Result>(call: CoalescedCall<Result>): Promise<CoalescedResult<Result>> {
    const { key, signal } = call;
    throwIfAborted(signal);
    // Calls with equal keys have results of the same type.
    const flight = (this.#flights.get(key)?.flight as Flight<Result> | undefined) ?? this.#startFlight<Result>(key);
    flight.callers += 1;
    let isOwn = false;
    try {
      const races = [flight.outcome.promise];
      if (!flight.hasStarted) races.push(this.#waitForTurn(call, flight, () => (isOwn = true)));
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
    // Not AbortSignal.any: its weak references make V8 keep everything of a call until the next collection of the whole heap.
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(call.signal.reason);
    flight.waiting.add(waiting);
    addAbortListener(call.signal, leave);
    const endWaiting = (): void => {
      flight.waiting.delete(waiting);
      removeAbortListener(call.signal, leave);
    };
    const turn = call.schedule(waiting.signal, async () => {
      endWaiting();
      if (flight.hasStarted) return; // two calls had their turn at once
      onTurn();
      flight.startedAt = performance.now();
      flight.hasStarted = true;
      for (const other of flight.waiting) other.abort("started");
      await this.#work(call, flight);
    });
    return new Promise((_resolve, reject) => {
      turn.catch((error: unknown) => {
        endWaiting();
        if (!flight.hasStarted) reject(error);
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
    const flight: Flight<Result> = {
      outcome,
      hasStarted: false,
      waiting: new Set(),
      abandoned: new AbortController(),
      callers: 0,
      startedAt: 0,
    };
    this.#flights.set(key, { flight: flight as Flight<unknown> });
    return flight;
  }

  /** Whether the flight was still registered. */
  #forget(key: string | symbol, flight: object): boolean {
    const entry = this.#flights.get(key);
    if (entry?.flight !== flight) return false;
    entry.flight = undefined;
    return this.#flights.delete(key);
  }
}
