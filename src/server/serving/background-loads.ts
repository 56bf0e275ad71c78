/**
 * Requests for models that are not in memory yet: each waits a limited time for the load, which continues after the request has been answered.
 */
import { addAbortListener } from "../../concurrency/abort-listeners.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { InferyardError } from "../../contract/errors.ts";
import { requestKey } from "../../runtime/residency/model-keys.ts";
import { type AdmitLoad, defaultSchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { LoadProgress, LoadProgressTracker } from "./load-progress.ts";
import type { ServedModelName } from "./model-names.ts";

/** A load that was started for a request and continues without it. */
interface Load {
  /** Resolves when the load ends, successfully or not. Never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  waiting: number;
}

type Outcome = { readonly loaded: true } | { readonly loaded: false; readonly error: unknown };

/** Bounds of `Retry-After` for a model that is still loading, in milliseconds; the minimum also where the remaining time is unknown. */
const minRetryMs = 1000;
const maxRetryMs = 60_000;
/** Failures kept for the next request. The oldest are dropped, since clients may ask for any number of targets. */
const maxFailures = 100;

/** Loads models for requests that may stop waiting before the load ends. */
export class BackgroundLoads {
  readonly #runtime: Runtime;
  readonly #watch: LoadProgressTracker;
  /** Aborted when the server shuts down; loads that no request waits for are then aborted. */
  readonly #ending: AbortSignal;
  /** Loads under way, by request key of model and constraints. */
  readonly #loads = new Map<string, Load>();
  /** Failures of loads that no request waited for any more, by request key. The next request for the same load receives it once. */
  readonly #failures = new Map<string, unknown>();

  constructor(runtime: Runtime, watch: LoadProgressTracker, ending: AbortSignal) {
    this.#runtime = runtime;
    this.#watch = watch;
    this.#ending = ending;
    addAbortListener(ending, () => {
      for (const load of this.#loads.values()) this.#abortIfUnused(load);
    });
  }

  /**
   * Waits until the model is in memory, at most `maxMs` milliseconds; the load continues after that. Throws MODEL_LOADING with the progress when the time is
   * over, errors of the load, and ABORTED. `admitLoad`: see `SchedulingKey.admitLoad`.
   */
  async waitUntilLoaded(named: ServedModelName, maxMs: number, signal: AbortSignal, admitLoad?: AdmitLoad): Promise<void> {
    const { reference, constraints } = named;
    if (await this.#runtime.isLoaded(reference, constraints)) return;
    const key = requestKey(reference, constraints);
    if (this.#failures.has(key)) {
      const failure = this.#failures.get(key);
      this.#failures.delete(key);
      throw failure;
    }
    const existing = this.#loads.get(key);
    const load = existing ?? this.#startLoad(key, named, admitLoad);
    load.waiting += 1;
    try {
      const outcome = await within(load.outcome, maxMs, signal);
      if (outcome === "late") throw modelLoadingError(named.name, this.#watch.getProgress(reference));
      if (outcome.loaded) return;
      if (existing === undefined || !isRateLimited(outcome.error)) throw outcome.error;
    } finally {
      load.waiting -= 1;
      if (this.#ending.aborted) this.#abortIfUnused(load);
    }
    await this.waitUntilLoaded(named, maxMs, signal, admitLoad); // the load of another client was refused, not that of this one
  }

  #startLoad(key: string, { reference, constraints }: ServedModelName, admitLoad: AdmitLoad | undefined): Load {
    const controller = new AbortController();
    this.#watch.start(reference);
    const turn = admitLoad === undefined ? defaultSchedulingKey : { ...defaultSchedulingKey, admitLoad };
    const loading = this.#runtime.use(reference, { ...constraints, signal: controller.signal }, async () => {}, turn);
    const outcome = loading.then(
      (): Outcome => ({ loaded: true }),
      (error: unknown): Outcome => {
        if (load.waiting === 0 && !controller.signal.aborted && !isRateLimited(error)) this.#keepFailure(key, error);
        return { loaded: false, error };
      },
    );
    const load: Load = { outcome, controller, waiting: 0 };
    this.#loads.set(key, load);
    void outcome.then(() => {
      this.#loads.delete(key);
      this.#watch.end(reference);
    });
    return load;
  }

  #keepFailure(key: string, error: unknown): void {
    this.#failures.set(key, error);
    if (this.#failures.size <= maxFailures) return;
    for (const oldest of this.#failures.keys()) return void this.#failures.delete(oldest);
  }

  #abortIfUnused({ waiting, controller }: Load): void {
    if (waiting === 0) controller.abort();
  }
}

/** Whether the load was refused because its client had started too many; that does not concern other clients. */
function isRateLimited(error: unknown): boolean {
  return error instanceof InferyardError && error.code === "RATE_LIMITED";
}

/** The error MODEL_LOADING, with the progress of the load and a `Retry-After` from its estimated remaining time. */
export function modelLoadingError(name: string, loading: LoadProgress | undefined): InferyardError {
  const { estimateMs = 0 } = loading ?? {};
  return new InferyardError("MODEL_LOADING", `${name} is still loading`, {
    remedy: "send the request again, as Retry-After says",
    retryAfterMs: Math.min(Math.max(estimateMs, minRetryMs), maxRetryMs),
    data: loading === undefined ? {} : { loading },
  });
}

/** The outcome, or "late" if it takes longer than `maxMs`. Rejects with ABORTED if the signal is aborted first. */
function within(outcome: Promise<Outcome>, maxMs: number, signal: AbortSignal): Promise<Outcome | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, maxMs, "late")));
  return abortable(Promise.race([outcome, late]), signal).finally(() => clearTimeout(timer));
}
