/** The sequences of a language model: their caches in the model's memory, and the runs that append tokens to them. */
import type { Mutex } from "../../../concurrency/mutex.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import type { Decoder, DecoderRow } from "./decoder.ts";
import { capacityFor } from "./decoder-sizes.ts";
import type { DecoderCache, SourceStates } from "./decoder-engine.ts";
import { bytesPerToken } from "./kv-cache.ts";
import { SequenceTable } from "../../../contract/sequence-table.ts";

/** Tokens to append to one sequence. The caller has checked them. */
export interface SequenceStep {
  /** Number of the sequence. */
  readonly sequence: number;
  /** Token ids, at least one. */
  readonly tokens: readonly number[];
  /** Number of last positions whose logits are returned, at most the number of tokens. */
  readonly logits: number;
}

/** A cache that sequences share until one of them appends to it. */
interface SharedCache {
  readonly cache: DecoderCache;
  /** Number of sequences that use it. */
  users: number;
  /** Number of positions that hold rows, at least the length of each sequence that uses it. */
  written: number;
}

interface Sequence {
  /** Undefined before the first token. */
  shared: SharedCache | undefined;
  length: number;
  /** What the decoder reads of its source; undefined for decoders without one. */
  readonly source: SourceStates | undefined;
}

/** A step in progress. */
interface Progress {
  readonly step: SequenceStep;
  readonly sequence: Sequence;
  /** Tokens of the sequence before the step. */
  readonly before: number;
  /** [step.logits, vocabulary] */
  logits: Float32Array;
}

/** A sequence that is cut moves to a smaller cache where its own has at least this many times the capacity. */
const minShrunkFactor = 4;
/** Sources are padded to this many tokens, or to a power of two times it, so that few executables serve all of them. */
const minSourceTokens = 32;

/** The length to which a source of this many tokens is padded. */
export function paddedSourceTokens(tokens: number): number {
  let padded = minSourceTokens;
  while (padded < tokens) padded *= 2;
  return padded;
}

/**
 * The sequences of one model. Calls are serialized over all sequences. The capacity of a cache, and the runs that a step is divided into, depend only on the
 * sequence's own steps, and with `fineSizes` on its length and the tokens of the step: so the results of a sequence are bit-identical whatever else is decoded,
 * unless the compiler is not `isBatchExact`.
 */
export class Sequences {
  /** Number of logits of each position. */
  readonly vocabulary: number;
  readonly #decoder: Decoder;
  readonly #mutex: Mutex;
  readonly #maxTokens: number;
  readonly #sequences = new SequenceTable<Sequence>();
  /** How many sequences read each source. */
  readonly #readers = new Map<SourceStates, number>();

  private constructor(decoder: Decoder, mutex: Mutex, maxTokens: number, vocabulary: number) {
    this.vocabulary = vocabulary;
    this.#decoder = decoder;
    this.#mutex = mutex;
    this.#maxTokens = maxTokens;
  }

  /**
   * `maxTokens`: upper bound on the tokens of a sequence; `sourceTokens`: number of positions of the source for which the first program is compiled, by
   * default the smallest. The caller must hold the model's mutex.
   */
  static async start(
    decoder: Decoder,
    mutex: Mutex,
    {
      maxTokens,
      sourceTokens = minSourceTokens,
      signal,
    }: { readonly maxTokens: number; readonly sourceTokens: number | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<Sequences> {
    const vocabulary = await decoder.prepare(
      Math.min(decoder.sizes.minCapacity, maxTokens),
      decoder.inputs.sources.length === 0 ? 0 : sourceTokens,
      signal,
    );
    return new Sequences(decoder, mutex, maxTokens, vocabulary);
  }

  /** What the decoder reads of a sequence's source. Throws INPUT_INVALID if there is no such sequence. */
  getSource(sequence: number): SourceStates | undefined {
    return this.#sequences.get(sequence).source;
  }

  /** Bytes of cache of one token of a sequence. */
  get bytesPerToken(): number {
    return bytesPerToken(this.#decoder.inputs.states);
  }

  /** Creates an empty sequence and returns its number. `source`: states of its source; for decoders that read one, and only for these. */
  async create(source?: SourceStates): Promise<number> {
    return await this.#exclusive(async () => this.#add({ shared: undefined, length: 0, source }));
  }

  /**
   * Appends tokens to sequences that are named once each, and returns for each step the logits [step.logits, vocabulary]. Single tokens for sequences
   * with caches of one capacity are computed together. Throws INPUT_TOO_LONG beyond the maximum. A call that fails leaves all sequences unchanged.
   */
  async decode(steps: readonly SequenceStep[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    return await this.#exclusive(async () => {
      throwIfAborted(signal);
      const all = steps.map((step): Progress => {
        const sequence = this.#sequences.get(step.sequence);
        this.#checkLength(sequence.length + step.tokens.length);
        const logits = new Float32Array(step.tokens.length === 1 ? 0 : step.logits * this.vocabulary);
        return { step, sequence, before: sequence.length, logits };
      });
      try {
        const isSingle = ({ step }: Progress): boolean => step.tokens.length === 1;
        for (const each of all) if (!isSingle(each)) await this.#appendMany(each, signal);
        await this.#appendSingle(all.filter(isSingle), signal);
      } catch (error) {
        for (const { sequence, before } of all) sequence.length = before;
        throw error;
      }
      return all.map(({ logits }) => logits);
    });
  }

  /** Creates a sequence with the same tokens. Both share the cache until one of them appends to it. */
  async fork(id: number): Promise<number> {
    return await this.#exclusive(async () => {
      const { shared, length, source } = this.#sequences.get(id);
      if (shared !== undefined) shared.users += 1;
      return this.#add({ shared, length, source });
    });
  }

  /** Removes all tokens from position `length` on. Throws INPUT_INVALID if the sequence is shorter. */
  async truncate(id: number, length: number): Promise<void> {
    await this.#exclusive(async () => {
      const sequence = this.#sequences.get(id);
      if (!Number.isSafeInteger(length) || length < 0 || length > sequence.length)
        throw new InferyardError(
          "INPUT_INVALID",
          `the sequence holds ${sequence.length} tokens and cannot be truncated to ${length}`,
        );
      sequence.length = length;
      if (length === 0) this.#leave(sequence);
      else await this.#shrink(sequence);
    });
  }

  /** Frees the sequence's cache. */
  async release(id: number): Promise<void> {
    await this.#exclusive(async () => {
      const sequence = this.#sequences.release(id);
      this.#leave(sequence);
      const { source } = sequence;
      if (source === undefined) return;
      const others = (this.#readers.get(source) ?? 1) - 1;
      if (others > 0) this.#readers.set(source, others);
      else if (this.#readers.delete(source)) this.#decoder.releaseSource(source);
    });
  }

  #add(sequence: Sequence): number {
    const { source } = sequence;
    if (source !== undefined) this.#readers.set(source, (this.#readers.get(source) ?? 0) + 1);
    return this.#sequences.add(sequence);
  }

  /** Appends the tokens of one step in chunks. */
  async #appendMany({ step, sequence, logits }: Progress, signal: AbortSignal | undefined): Promise<void> {
    const { tokens } = step;
    const decoder = this.#decoder;
    const padding = decoder.sizes.chunks.at(-1) ?? 1;
    const cache = await this.#ownCache(sequence, sequence.length + Math.ceil(tokens.length / padding) * padding, signal);
    const firstLogits = tokens.length - step.logits;
    for (let done = 0; done < tokens.length;) {
      const { length } = sequence;
      const { source } = sequence;
      const sizes = { capacity: cache.capacity, source: source?.tokens ?? 0 };
      const [remaining, room] = [tokens.length - done, cache.capacity - length];
      const size = await decoder.chunkSize(sizes, { remaining, room, areChecked: step.logits > 1 }, signal);
      const now = tokens.slice(done, done + size);
      const end = done + now.length;
      const from = Math.max(firstLogits, done);
      const rows = from < end - 1 ? size : 1;
      const given = await decoder.run({ rows: [{ cache, length, tokens: now, source }], size, logits: rows, signal });
      if (from < end) {
        const start = rows === 1 ? 0 : (from - done) * this.vocabulary;
        logits.set(given.subarray(start, start + (end - from) * this.vocabulary), (from - firstLogits) * this.vocabulary);
      }
      this.#extend(sequence, length + now.length);
      done = end;
      await pause(signal);
    }
  }

  /** Appends one token to each sequence. */
  async #appendSingle(all: readonly Progress[], signal: AbortSignal | undefined): Promise<void> {
    const groups = new Map<string, { readonly progress: Progress; readonly row: DecoderRow }[]>();
    for (const progress of all) {
      const { sequence, step } = progress;
      const cache = await this.#ownCache(sequence, sequence.length + 1, signal);
      const { length, source } = sequence;
      const key = `${cache.capacity} ${source?.tokens ?? 0}`;
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ progress, row: { cache, length, tokens: step.tokens, source } });
    }
    for (const group of groups.values()) {
      let next = 0;
      while (next < group.length) {
        const batch = group.slice(next, next + this.#decoder.maxBatch);
        const isTogether = await this.#decoder.mayBatch(
          batch.map(({ row }) => row),
          signal,
        );
        const now = isTogether ? batch : batch.slice(0, 1);
        const rows = now.map(({ row }) => row);
        const given = await this.#decoder.run({ rows, size: 1, logits: 1, signal });
        for (const [index, { progress }] of now.entries()) {
          const own = (): Float32Array => given.subarray(index * this.vocabulary, (index + 1) * this.vocabulary);
          if (progress.step.logits === 1) progress.logits = now.length === 1 ? own() : own().slice();
          this.#extend(progress.sequence, progress.sequence.length + 1);
        }
        next += now.length;
        await pause(signal);
      }
    }
  }

  /** Returns a cache that only this sequence uses, with the capacity for `tokens` tokens, and with no rows beyond its length. */
  async #ownCache(sequence: Sequence, tokens: number, signal: AbortSignal | undefined): Promise<DecoderCache> {
    const { shared, length, source } = sequence;
    const capacity = this.#capacityFor(tokens);
    if (shared?.users === 1 && this.#isFit(shared.cache.capacity, capacity)) {
      shared.cache.clear(length, shared.written);
      shared.written = length;
      return shared.cache;
    }
    const cache = await this.#decoder.createCache(capacity, source?.tokens ?? 0, signal);
    try {
      if (shared !== undefined) cache.copyFrom(shared.cache, length);
    } catch (error) {
      cache.release();
      throw error;
    }
    this.#leave(sequence);
    sequence.shared = { cache, users: 1, written: length };
    return cache;
  }

  /** Moves a sequence that was cut to a small part of its cache to a smaller one: it may be kept for long, as the beginnings of prompts are. */
  async #shrink(sequence: Sequence): Promise<void> {
    const { shared, length } = sequence;
    if (shared?.users !== 1 || shared.cache.capacity < minShrunkFactor * this.#capacityFor(length)) return;
    try {
      await this.#ownCache(sequence, length, undefined);
    } catch (error) {
      // For a moment both are there; where they have no room, the sequence keeps the one that it has.
      if (!(error instanceof InferyardError) || error.code !== "OUT_OF_MEMORY") throw error;
    }
  }

  #capacityFor(tokens: number): number {
    return Math.min(capacityFor(tokens, this.#decoder.sizes), this.#maxTokens);
  }

  /** Whether a sequence stays in a cache with `own` positions where it needs one with `needed` positions. */
  #isFit(own: number, needed: number): boolean {
    return own === needed || (own > needed && own < this.#decoder.sizes.minShrunkFactor * needed);
  }

  /** Sets the length of a sequence whose cache has rows of so many tokens. */
  #extend(sequence: Sequence, length: number): void {
    sequence.length = length;
    if (sequence.shared !== undefined) sequence.shared.written = Math.max(sequence.shared.written, length);
  }

  /** Detaches the sequence from its cache, which is freed with its last user. */
  #leave(sequence: Sequence): void {
    const { shared } = sequence;
    sequence.shared = undefined;
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users === 0) shared.cache.release();
  }

  #checkLength(tokens: number): void {
    if (tokens <= this.#maxTokens) return;
    throw new InferyardError(
      "INPUT_TOO_LONG",
      `the sequence would have ${tokens} tokens, and the model's context is ${this.#maxTokens}`,
      { remedy: "shorten the text, or ask for fewer new tokens", data: { tokens, contextLength: this.#maxTokens } },
    );
  }

  async #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#mutex.runExclusive(async () => {
      if (this.#decoder.isDisposed) throw new InferyardError("DISPOSED", "the model was disposed");
      return await work();
    });
  }
}

/** Lets the event loop run between two runs of a call that can be aborted. Throws ABORTED if it was. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  await yieldToEventLoop();
  throwIfAborted(signal);
}
