/** One text that grows token by token: its cache, in memory of the model that is never copied for a token. */
import { InferyardError, throwIfAborted } from "../../../errors.ts";
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import type { Mutex } from "../mutex.ts";
import type { Decoder } from "./decoder.ts";
import { kvCacheBytes, type KvCache } from "./kv-cache.ts";

export interface DecodeSettings {
  /** Tokens that a session holds at most: what its memory is bounded by. A model that was trained on fewer has an error of its own for them. Default: 1024. */
  readonly capacity?: number;
  readonly signal?: AbortSignal;
}

export interface DecodeOptions {
  /** Ends a call within some 20 ms; the session is then as it was before. */
  readonly signal?: AbortSignal;
}

/** The first cache; each next one is twice as large, up to the session's capacity. */
const minCapacity = 32;
const defaultCapacity = 1024;

/** Calls may be made while others are running, of this session or of another one of the model: they are computed one after the other. */
export class DecodeSession {
  /** Tokens it holds at most. */
  readonly capacity: number;
  readonly #decoder: Decoder;
  readonly #mutex: Mutex;
  #cache: KvCache | undefined;
  #length = 0;
  #isDisposed = false;

  constructor(decoder: Decoder, turns: Mutex, capacity: number) {
    this.capacity = capacity;
    this.#decoder = decoder;
    this.#mutex = turns;
  }

  /** An empty session, after the model was found fit for it. Within a turn. */
  static async start(decoder: Decoder, turns: Mutex, settings: DecodeSettings): Promise<DecodeSession> {
    const { capacity = defaultCapacity, signal } = settings;
    if (!Number.isSafeInteger(capacity) || capacity < 1)
      throw new InferyardError("INPUT_INVALID", `a capacity of ${capacity} tokens is not possible`, {
        remedy: "give a whole number from 1 on",
      });
    const session = new DecodeSession(decoder, turns, capacity);
    session.#cache = await decoder.createCache(Math.min(minCapacity, capacity), signal);
    return session;
  }

  /** Tokens it holds now. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the cache when it is full. While it grows, and while a program is tried for the first time, a second one of at most this size is there. */
  get maxBytes(): number {
    return kvCacheBytes(this.#decoder.inputs.states, this.capacity);
  }

  /**
   * Appends tokens, and gives the logits [classes] of what follows the last of them. INPUT_TOO_LONG beyond the capacity; where it fails or is
   * aborted, the session is as it was before.
   */
  async prefill(tokens: readonly number[], { signal }: DecodeOptions = {}): Promise<Float32Array> {
    const strange = tokens.find((token) => !Number.isSafeInteger(token) || token < 0 || token >= 2 ** 31);
    if (strange !== undefined || tokens.length === 0)
      throw new InferyardError("INPUT_INVALID", strange === undefined ? "there is no token" : `${strange} is no token`, {
        remedy: "give at least one token, as whole numbers from 0 on",
      });
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const before = this.#length;
      try {
        return await this.#append(tokens, signal);
      } catch (error) {
        this.#cache?.clear(before, this.#cache.capacity);
        this.#length = before;
        throw error;
      }
    });
  }

  /** Appends one token, and gives the logits [classes] of what follows it. */
  async next(token: number, options: DecodeOptions = {}): Promise<Float32Array> {
    return await this.prefill([token], options);
  }

  /** Forgets all tokens from this place on, as if they had never been there. */
  async truncate(length: number): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      const rows = this.#liveCache();
      if (!Number.isSafeInteger(length) || length < 0 || length > this.#length)
        throw new InferyardError("INPUT_INVALID", `the session holds ${this.#length} tokens, and cannot be cut to ${length}`);
      rows.clear(length, this.#length);
      this.#length = length;
    });
  }

  /** Gives its memory to other sessions of the model. No call may follow. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#mutex.runExclusive(async () => {
      this.#cache?.release();
      this.#cache = undefined;
    });
  }

  async #append(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    const decoder = this.#decoder;
    const cache = await this.#cacheWithRoom(tokens.length, signal);
    const { capacity } = cache;
    let logits = new Float32Array();
    for (let done = 0; done < tokens.length;) {
      const length = this.#length;
      const size = await decoder.chunkSize(capacity, tokens.length - done, capacity - length, signal);
      const now = tokens.slice(done, done + size);
      logits = (await decoder.step({ cache, length, tokens: now, size, signal })) as Float32Array<ArrayBuffer>;
      this.#length += now.length;
      done += now.length;
      if (signal === undefined || done === tokens.length) continue;
      await yieldToEventLoop();
      throwIfAborted(signal);
    }
    return logits;
  }

  /** The cache, moved to a larger one where it is too small. */
  async #cacheWithRoom(tokens: number, signal: AbortSignal | undefined): Promise<KvCache> {
    const rows = this.#liveCache();
    const wanted = this.#length + tokens;
    if (wanted > this.capacity)
      throw new InferyardError("INPUT_TOO_LONG", `the session holds ${this.capacity} tokens, and would need ${wanted}`, {
        remedy: "start it with more capacity, or cut the text",
        data: { capacity: this.capacity, wanted },
      });
    if (wanted <= rows.capacity) return rows;
    let { capacity } = rows;
    while (capacity < wanted) capacity *= 2;
    const larger = await this.#decoder.createCache(Math.min(capacity, this.capacity), signal);
    larger.copyFrom(rows, this.#length);
    rows.release();
    this.#cache = larger;
    return larger;
  }

  #liveCache(): KvCache {
    if (this.#cache === undefined || this.#isDisposed) throw new InferyardError("DISPOSED", "the session was disposed");
    return this.#cache;
  }
}
