/**
 * Virtual token counters (Sheng et al. 2024, "Fairness in Serving Large Language Models"): the number of tokens that a model has computed for each client,
 * divided by the client's weight. The client with the lowest counter is served next. The counter of a client that becomes active is lifted to the lowest
 * counter of the active clients, so that clients gain no credit while idle.
 */
export class TokenCounters {
  readonly #tokens = new Map<string, number>();

  /** Number of clients whose counters are kept. */
  get size(): number {
    return this.#tokens.size;
  }

  /** The counter of a client, in tokens. */
  of(client: string): number {
    return this.#tokens.get(client) ?? 0;
  }

  /** Counts tokens that were computed for a client. */
  charge(client: string, tokens: number, weight: number): void {
    this.#tokens.set(client, this.of(client) + tokens / weight);
  }

  /** Called when a client becomes active. `active`: the clients that are active already. */
  lift(client: string, active: readonly string[]): void {
    this.#tokens.set(client, Math.max(this.of(client), this.#lowest(active)));
  }

  /** Discards counters that a lift would reproduce: counters of inactive clients, up to the lowest counter of `active`, the active clients. */
  prune(active: readonly string[]): void {
    const lowest = active.length === 0 ? Number.POSITIVE_INFINITY : this.#lowest(active);
    for (const [client, tokens] of this.#tokens) if (tokens <= lowest && !active.includes(client)) this.#tokens.delete(client);
  }

  #lowest(clients: readonly string[]): number {
    return clients.length === 0 ? 0 : Math.min(...clients.map((client) => this.of(client)));
  }
}
