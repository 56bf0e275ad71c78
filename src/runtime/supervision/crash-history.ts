/**
 * Deaths of the hosts of one model on one target. Computes the exponential backoff before the next start, and detects crash
 * loops. Deterministic for a given clock.
 */

/** Delay before the second restart, doubled for each further one. The first restart is not delayed. */
const initialDelayMs = 250;
const maxDelayMs = 30_000;

/** When repeated deaths count as a crash loop. */
export interface CrashLimits {
  /** Number of deaths within the window that make a crash loop. */
  readonly maxCrashes: number;
  readonly windowMs: number;
}

/** Records deaths within a sliding window. */
export class CrashHistory {
  readonly #limits: CrashLimits;
  readonly #now: () => number;
  /** Times of deaths within the window. */
  #deaths: number[] = [];
  /** End of the last cooldown. A death within one window after it starts the next cooldown at once. */
  #cooldownUntil = Number.NEGATIVE_INFINITY;

  /** `now`: monotonic clock in milliseconds. */
  constructor(limits: CrashLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Number of deaths within the window. */
  get count(): number {
    return this.#recent().length;
  }

  /**
   * Records a death. Returns "crash-loop" if it makes one, after which nothing is started for one window. `hungMs`: how long
   * the host did not answer before it was killed. That time is excluded from the window; otherwise hangs longer than the window
   * would never make a loop.
   */
  add(hungMs = 0): "restart" | "crash-loop" {
    const { maxCrashes, windowMs } = this.#limits;
    const now = this.#now();
    this.#deaths = this.#deaths.map((time) => Math.min(time + hungMs, now));
    this.#cooldownUntil += hungMs;
    const relapsed = now - this.#cooldownUntil < windowMs;
    this.#deaths = [...this.#recent(), now];
    if (this.#deaths.length < maxCrashes && !relapsed) return "restart";
    this.#cooldownUntil = now + windowMs;
    return "crash-loop";
  }

  /** Milliseconds until the next start is permitted. */
  get waitMs(): number {
    const recent = this.#recent();
    const last = recent.at(-1);
    if (last === undefined || recent.length < 2) return 0;
    const delay = Math.min(initialDelayMs * 2 ** (recent.length - 2), maxDelayMs);
    return Math.max(last + delay - this.#now(), 0);
  }

  #recent(): number[] {
    const since = this.#now() - this.#limits.windowMs;
    return this.#deaths.filter((time) => time > since);
  }
}
