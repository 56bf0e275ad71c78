/** Circuit breakers (Nygard 2007): a target that failed is not tried for a cooldown period, either for all models or for one. */

/** A target that is not tried at present. */
export interface OpenCircuit {
  readonly reason: string;
  /** Milliseconds until the circuit closes. */
  readonly remainingMs: number;
}

/** The open circuits of one runtime. */
export class CircuitBreakers {
  readonly #open = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #cooldownMs: number;
  readonly #now: () => number;

  /** `cooldownMs`: default time for which a circuit stays open. `now`: clock in milliseconds. */
  constructor(cooldownMs: number, now: () => number = Date.now) {
    this.#cooldownMs = cooldownMs;
    this.#now = now;
  }

  /** Opens a circuit. `key`: a target, for all models, or a `placementKey`, for one model on it. */
  open(key: string, reason: string, cooldownMs: number = this.#cooldownMs): void {
    this.#open.set(key, { reason, until: this.#now() + cooldownMs });
  }

  /** The circuits that are open now, by key. */
  current(): Map<string, OpenCircuit> {
    const now = this.#now();
    const open = [...this.#open].filter(([, { until }]) => until > now);
    return new Map(open.map(([key, { reason, until }]) => [key, { reason, remainingMs: until - now }]));
  }
}
