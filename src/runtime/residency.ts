/** Which models are in memory: loads happen once, users are counted, and what nobody uses leaves after a while. */
import { InferyardError } from "../errors.ts";

/** Timers take no more (2^31 - 1 ms, 24 days); longer ones would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** A thing that is kept while somebody uses it. */
export interface Resident {
  dispose(): Promise<void>;
}

/** One user's hold on a resident. Releasing twice does nothing. */
export interface Lease<Item> {
  readonly item: Item;
  release(): void;
}

interface Entry<Item> {
  readonly load: Promise<Item>;
  readonly controller: AbortController;
  users: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export class Residency<Item extends Resident> {
  readonly #entries = new Map<string, Entry<Item>>();
  readonly #keepAliveMs: number;
  #closed = false;

  /** `keepAliveMs`: how long something unused stays; 0 = until `clear` or `close`. */
  constructor(keepAliveMs: number) {
    this.#keepAliveMs = Math.min(keepAliveMs, longestTimerMs);
  }

  /**
   * A lease on the item with this key. The first to ask loads it; those who ask meanwhile wait for the same load. A caller who
   * cancels stops waiting; the load itself is cancelled when the last one who waits has gone.
   */
  async acquire(key: string, load: (signal: AbortSignal) => Promise<Item>, signal?: AbortSignal): Promise<Lease<Item>> {
    if (this.#closed) throw new InferyardError("DISPOSED", "this runtime was disposed");
    const entry = this.#entries.get(key) ?? this.#begin(key, load);
    clearTimeout(entry.idleTimer);
    entry.users += 1;
    try {
      const item = await waitFor(entry.load, signal);
      return this.#lease(key, entry, item);
    } catch (error) {
      entry.users -= 1;
      if (entry.users === 0) this.#abandon(key, entry);
      throw error;
    }
  }

  /** The items that are loaded now. */
  async items(): Promise<Item[]> {
    const settled = await Promise.allSettled([...this.#entries.values()].map(({ load }) => load));
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Unloads what nobody uses, at once. */
  async clear(): Promise<void> {
    const idle = [...this.#entries].filter(([, entry]) => entry.users === 0);
    await Promise.all(idle.map(([key, entry]) => this.#unload(key, entry)));
  }

  /** Unloads everything, used or not, and refuses new users. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#entries].map(([key, entry]) => this.#unload(key, entry)));
  }

  #begin(key: string, load: (signal: AbortSignal) => Promise<Item>): Entry<Item> {
    const controller = new AbortController();
    const entry: Entry<Item> = { load: load(controller.signal), controller, users: 0, idleTimer: undefined };
    this.#entries.set(key, entry);
    entry.load.catch(() => this.#forget(key, entry)); // a failed load is tried anew by the next caller
    return entry;
  }

  #lease(key: string, entry: Entry<Item>, item: Item): Lease<Item> {
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      entry.users -= 1;
      if (entry.users === 0 && this.#entries.get(key) === entry && this.#keepAliveMs > 0) {
        entry.idleTimer = setTimeout(() => void this.#unload(key, entry), this.#keepAliveMs).unref();
      }
    };
    return { item, release };
  }

  /** Nobody waits for this load any more. */
  #abandon(key: string, entry: Entry<Item>): void {
    this.#forget(key, entry);
    entry.controller.abort();
    entry.load.then(
      (item) => item.dispose(),
      () => {}, // the callers have had the error
    );
  }

  async #unload(key: string, entry: Entry<Item>): Promise<void> {
    clearTimeout(entry.idleTimer);
    this.#forget(key, entry);
    const [settled] = await Promise.allSettled([entry.load]);
    if (settled.status === "fulfilled") await settled.value.dispose();
  }

  #forget(key: string, entry: Entry<Item>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

async function waitFor<Item>(load: Promise<Item>, signal: AbortSignal | undefined): Promise<Item> {
  if (signal === undefined) return load;
  let stop: (() => void) | undefined;
  const cancelled = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new InferyardError("ABORTED", "the caller cancelled this load", { cause: signal.reason }));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([load, cancelled]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}
