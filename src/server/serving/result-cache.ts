/** A cache of results, bounded in bytes. */

interface Entry<Result> {
  readonly result: Result;
  readonly bytes: number;
}

/** Memory of a key and an entry besides the result, in bytes. */
const overheadBytes = 200;

/** A least-recently-used cache that is bounded by the size of its results in bytes. */
export class ResultCache<Result> {
  readonly #limit: number;
  /** The least recently used entry comes first. */
  readonly #entries = new Map<string, Entry<Result>>();
  #bytes = 0;

  /** `limitBytes`: memory of all entries together. */
  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Memory of all entries, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The cached result, which becomes the most recently used; undefined if there is none. */
  get(key: string): Result | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.result;
  }

  /**
   * Adds or replaces a result of `resultBytes` bytes and evicts the least recently used ones beyond the limit. A result larger than the limit is
   * not cached.
   */
  put(key: string, result: Result, resultBytes: number): void {
    this.#remove(key);
    const bytes = resultBytes + overheadBytes;
    if (bytes > this.#limit) return;
    this.#entries.set(key, { result, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
