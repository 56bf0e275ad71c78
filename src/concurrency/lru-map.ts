interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** A map of bounded size that evicts the entries used longest ago. */
export class LruMap<Value> {
  readonly #limit: number;
  readonly #onEvict: ((value: Value) => void) | undefined;
  /** The least recently used entry comes first. */
  readonly #entries = new Map<string, Entry<Value>>();
  #size = 0;

  /** `limit`: the sizes of all entries together. `onEvict` is called with each value that makes room for others. */
  constructor(limit: number, onEvict?: (value: Value) => void) {
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  /** The sizes of all entries together. */
  get size(): number {
    return this.#size;
  }

  /** The value, which becomes the most recently used; undefined if there is none. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Adds or replaces a value and evicts the least recently used ones beyond the limit. A value larger than the limit is not kept. */
  set(key: string, value: Value, size = 1): void {
    this.delete(key);
    if (size > this.#limit) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const [oldest, evicted] of this.#entries) {
      if (this.#size <= this.#limit) return;
      this.delete(oldest);
      this.#onEvict?.(evicted.value);
    }
  }

  /** The values, the least recently used first. */
  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** Removes all entries, without `onEvict`. */
  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }

  /** Removes an entry, if there is one, without `onEvict`. */
  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
