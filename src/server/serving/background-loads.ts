/** Requests for models that are not in memory yet: how long they wait, and the load that goes on when they do so no longer. */
import { InferyardError, abortError } from "../../errors.ts";
import { requestKey } from "../../runtime/residency/model-keys.ts";
import { type AdmitLoad, defaultSchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import type { Runtime } from "../../api/runtime.ts";
import type { LoadProgress, LoadProgressTracker } from "./load-progress.ts";
import type { ResolvedModel } from "./model-names.ts";

interface Load {
  /** "loaded", or what was thrown. Never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  waiting: number;
}

type Outcome = { readonly loaded: true } | { readonly loaded: false; readonly error: unknown };

/** Of an answer that does not know how long the load takes. */
const minRetryMs = 1000;
const maxRetryMs = 60_000;
/** Failures that are kept for whoever asks next; the oldest are forgotten first, since clients may ask for any number of targets. */
const maxFailures = 100;

export class BackgroundLoads {
  readonly #runtime: Runtime;
  readonly #watch: LoadProgressTracker;
  /** Aborted when the server ends: a load that nobody waits for is given up. */
  readonly #ending: AbortSignal;
  readonly #loads = new Map<string, Load>();
  /** Failures nobody has been told of, by load: the next who asks is. */
  readonly #failures = new Map<string, unknown>();

  constructor(runtime: Runtime, watch: LoadProgressTracker, ending: AbortSignal) {
    this.#runtime = runtime;
    this.#watch = watch;
    this.#ending = ending;
    ending.addEventListener("abort", () => {
      for (const load of this.#loads.values()) this.#abortIfUnused(load);
    });
  }

  /**
   * Waits until the model is in memory, at most so long; the load goes on all the same. MODEL_LOADING when the time is over, with how far it
   * is; what the load throws; ABORTED. `admitLoad`: see `Turn`.
   */
  async waitUntilLoaded(named: ResolvedModel, longestMs: number, signal: AbortSignal, admitLoad?: AdmitLoad): Promise<void> {
    const { reference, constraints } = named;
    if (await this.#runtime.isLoaded(reference, constraints)) return;
    const key = requestKey(reference, constraints);
    if (this.#failures.has(key)) {
      const failure = this.#failures.get(key);
      this.#failures.delete(key);
      throw failure;
    }
    const before = this.#loads.get(key);
    const load = before ?? this.#begin(key, named, admitLoad);
    load.waiting += 1;
    try {
      const outcome = await within(load.outcome, longestMs, signal);
      if (outcome === "late") throw modelLoadingError(named.name, this.#watch.progressOf(reference));
      if (outcome.loaded) return;
      if (before === undefined || !isRateLimited(outcome.error)) throw outcome.error;
    } finally {
      load.waiting -= 1;
      if (this.#ending.aborted) this.#abortIfUnused(load);
    }
    await this.waitUntilLoaded(named, longestMs, signal, admitLoad); // the load of another client was refused, not this one
  }

  #begin(key: string, { reference, constraints }: ResolvedModel, admitLoad: AdmitLoad | undefined): Load {
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

/** Whether a load was refused for what its client did before: that is nobody else's failure. */
function isRateLimited(error: unknown): boolean {
  return error instanceof InferyardError && error.code === "RATE_LIMITED";
}

/** For a client that is not to wait any longer. */
export function modelLoadingError(name: string, loading: LoadProgress | undefined): InferyardError {
  const { estimateMs = 0 } = loading ?? {};
  return new InferyardError("MODEL_LOADING", `${name} is still loading`, {
    remedy: "send the request again, as Retry-After says",
    retryAfterMs: Math.min(Math.max(estimateMs, minRetryMs), maxRetryMs),
    data: loading === undefined ? {} : { loading },
  });
}

function within(outcome: Promise<Outcome>, longestMs: number, signal: AbortSignal): Promise<Outcome | "late"> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(abortError(signal));
    const timer = setTimeout(() => resolve("late"), longestMs);
    const leave = (): void => reject(abortError(signal));
    signal.addEventListener("abort", leave, { once: true });
    void outcome.then(resolve);
    const tidy = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
    };
    signal.addEventListener("abort", tidy, { once: true });
    void outcome.then(tidy);
  });
}
