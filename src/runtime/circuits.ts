/** Targets that failed while running, and are left alone for a while. */
export class Circuits {
  readonly #open = new Map<string, { readonly reason: string; readonly until: number }>();
  readonly #restMs: number;

  /** `restMs`: how long a failed target is left alone. */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  open(target: string, reason: string): void {
    this.#open.set(target, { reason, until: Date.now() + this.#restMs });
  }

  /** Target -> reason, of those that are open now. */
  current(): Map<string, string> {
    const now = Date.now();
    return new Map([...this.#open].filter(([, { until }]) => until > now).map(([target, { reason }]) => [target, reason]));
  }
}
