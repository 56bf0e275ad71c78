/** The deaths of the hosts of one model on one target: how long the next start waits for them, and when they are too many. Pure but for its clock. */

/** The second start waits this long, each further one twice as long as the one before. The first waits for nothing. */
const initialDelayMs = 250;
const maxDelayMs = 30_000;

export interface CrashLimits {
  /** So many deaths within the window are a crash loop. */
  readonly maxCrashes: number;
  readonly windowMs: number;
}

export class CrashHistory {
  readonly #limits: CrashLimits;
  readonly #now: () => number;
  /** Times of deaths within the window. */
  #deaths: number[] = [];
  /** When the last rest ends. Who dies within a window of it has not recovered, and rests again at once. */
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(limits: CrashLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Deaths within the window. */
  get count(): number {
    return this.#recent().length;
  }

  /**
   * One more. Says whether it makes a crash loop, which is to rest for a window. `hungMs`: how long it had not answered before it was ended. The
   * window does not count that time, in which the model did not show that it works: else hangs longer than the window would never be a loop.
   */
  add(hungMs = 0): "restart" | "rest" {
    const { maxCrashes, windowMs } = this.#limits;
    const now = this.#now();
    this.#deaths = this.#deaths.map((at) => Math.min(at + hungMs, now));
    this.#restsUntil += hungMs;
    const relapsed = now - this.#restsUntil < windowMs;
    this.#deaths = [...this.#recent(), now];
    if (this.#deaths.length < maxCrashes && !relapsed) return "restart";
    this.#restsUntil = now + windowMs;
    return "rest";
  }

  /** How long from now the next start has to wait. */
  get waitMs(): number {
    const recent = this.#recent();
    const last = recent.at(-1);
    if (last === undefined || recent.length < 2) return 0;
    const delay = Math.min(initialDelayMs * 2 ** (recent.length - 2), maxDelayMs);
    return Math.max(last + delay - this.#now(), 0);
  }

  #recent(): number[] {
    const since = this.#now() - this.#limits.windowMs;
    return this.#deaths.filter((at) => at > since);
  }
}
