/** A sequence that is decoded token by token, with its key-value cache in the model's memory. */
import { InferyardError, throwIfAborted } from "../../../errors.ts";
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import type { Mutex } from "../../../concurrency/mutex.ts";
import type { Decoder } from "./decoder.ts";
import { kvCacheBytes, type KvCache } from "./kv-cache.ts";

/** Settings of a decoding session. */
export interface DecodeSettings {
  /** Upper bound on the tokens of the session; bounds its memory. The model itself may support fewer. Default: 1024. */
  readonly capacity?: number;
  /** Aborts starting the session. */
  readonly signal?: AbortSignal;
}

/** Options of one call of a decoding session. */
export interface DecodeOptions {
  /** Aborts the call within about 20 ms; the session is then unchanged. */
  readonly signal?: AbortSignal;
}

/** Capacity of the first cache in tokens. A full cache is replaced by one of twice the capacity, up to that of the session. */
const minCapacity = 32;
const defaultCapacity = 1024;

/** A decoding session. Concurrent calls, also those of other sessions of the model, are serialized. */
export class DecodeSession {
  /** Maximum number of tokens of the session. */
  readonly capacity: number;
  readonly #decoder: Decoder;
  readonly #mutex: Mutex;
  #cache: KvCache | undefined;
  #length = 0;
  #isDisposed = false;

  constructor(decoder: Decoder, mutex: Mutex, capacity: number) {
    this.capacity = capacity;
    this.#decoder = decoder;
    this.#mutex = mutex;
  }

  /** Creates an empty session. Compiles and verifies the executable for one token. The caller must hold the model's mutex. */
  static async start(decoder: Decoder, mutex: Mutex, settings: DecodeSettings): Promise<DecodeSession> {
    const { capacity = defaultCapacity, signal } = settings;
    if (!Number.isSafeInteger(capacity) || capacity < 1)
      throw new InferyardError("INPUT_INVALID", `a capacity of ${capacity} tokens is invalid`, {
        remedy: "give an integer of at least 1",
      });
    const session = new DecodeSession(decoder, mutex, capacity);
    session.#cache = await decoder.createCache(Math.min(minCapacity, capacity), signal);
    return session;
  }

  /** Number of tokens in the session. */
  get length(): number {
    return this.#length;
  }

  /** Size in bytes of the cache at full capacity. While it grows, or while a new executable is verified, a second cache of up to this size exists. */
  get maxBytes(): number {
    return kvCacheBytes(this.#decoder.inputs.states, this.capacity);
  }

  /**
   * Appends tokens and returns the logits [classes] for the token after them. Throws INPUT_TOO_LONG beyond the capacity and INPUT_INVALID for invalid
   * token ids. A call that fails or is aborted leaves the session unchanged.
   */
  async prefill(tokens: readonly number[], { signal }: DecodeOptions = {}): Promise<Float32Array> {
    const invalid = tokens.find((token) => !Number.isSafeInteger(token) || token < 0 || token >= 2 ** 31);
    if (invalid !== undefined || tokens.length === 0)
      throw new InferyardError("INPUT_INVALID", invalid === undefined ? "there are no tokens" : `${invalid} is not a token id`, {
        remedy: "give at least one token id, each an integer of at least 0",
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

  /** Appends one token and returns the logits [classes] for the next one. */
  async next(token: number, options: DecodeOptions = {}): Promise<Float32Array> {
    return await this.prefill([token], options);
  }

  /** Removes all tokens from position `length` on. Throws INPUT_INVALID when the session holds fewer. */
  async truncate(length: number): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      const rows = this.#liveCache();
      if (!Number.isSafeInteger(length) || length < 0 || length > this.#length)
        throw new InferyardError(
          "INPUT_INVALID",
          `the session holds ${this.#length} tokens and cannot be truncated to ${length}`,
        );
      rows.clear(length, this.#length);
      this.#length = length;
    });
  }

  /** Releases the cache. The session must not be used afterwards. */
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

  /** Returns a cache with room for `tokens` more tokens; replaces the current cache with a larger one if necessary. */
  async #cacheWithRoom(tokens: number, signal: AbortSignal | undefined): Promise<KvCache> {
    const rows = this.#liveCache();
    const wanted = this.#length + tokens;
    if (wanted > this.capacity)
      throw new InferyardError(
        "INPUT_TOO_LONG",
        `the session needs room for ${wanted} tokens, and its capacity is ${this.capacity}`,
        {
          remedy: "start it with a larger capacity, or shorten the text",
          data: { capacity: this.capacity, wanted },
        },
      );
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
