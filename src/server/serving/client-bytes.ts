/** Counts the bytes that clients hold of a limited memory. */

/** Bytes by client. */
export class ClientBytes {
  readonly limit: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** `limit`: bytes of all clients. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes of all clients. */
  get used(): number {
    return this.#used;
  }

  heldBy(client: string): number {
    return this.#held.get(client) ?? 0;
  }

  /**
   * Whether the client may hold this many bytes more: as many as then remain free at most, so that one client alone holds half of the limit, and n greedy
   * ones leave 1/(n+1) of it to others (dynamic thresholds, Choudhury and Hahne 1998).
   */
  fits(client: string, bytes: number): boolean {
    return this.heldBy(client) + bytes <= this.limit - this.#used - bytes;
  }

  /** Counts bytes, negative ones where they are returned. */
  add(client: string, bytes: number): void {
    const held = this.heldBy(client) + bytes;
    this.#used += bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}
