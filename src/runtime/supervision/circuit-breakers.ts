/** Targets that failed while running, for all models or for one, and are left alone for a while. */

export interface OpenCircuit {
  readonly reason: string;
  /** Milliseconds until it closes. */
  readonly remainingMs: number;
}

export class CircuitBreakers {
  readonly #open = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #restMs: number;
  readonly #now: () => number;

  /** `restMs`: how long a failed target is left alone where nothing else is said. */
  constructor(restMs: number, now: () => number = Date.now) {
    this.#restMs = restMs;
    this.#now = now;
  }

  /** `key`: a target, for all models, or what `circuitKey` gives, for one. */
  open(key: string, reason: string, restMs: number = this.#restMs): void {
    this.#open.set(key, { reason, until: this.#now() + restMs });
  }

  /** Those that are open now, by their keys. */
  current(): Map<string, OpenCircuit> {
    const now = this.#now();
    const open = [...this.#open].filter(([, { until }]) => until > now);
    return new Map(open.map(([key, { reason, until }]) => [key, { reason, remainingMs: until - now }]));
  }
}
