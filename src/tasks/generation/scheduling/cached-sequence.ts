/** A sequence of the scheduler: its tokens, and its cache in the model. A cache that was dropped is computed again by the same calls, so that it has the same bits. */
import type { LanguageModel, SequenceId } from "../../../contract/backend.ts";
import { at, omitUndefined } from "../../../contract/checked.ts";

/** The part of a language model that holds caches. */
type CachingModel = Pick<LanguageModel, "createSequence" | "forkSequence" | "truncateSequence" | "releaseSequence">;

/** A call of the model: the number of tokens that it appended, and of how many of them logits were asked for. */
interface Call {
  tokens: number;
  logits: number;
}

/** A sequence whose cache may be absent from the model. */
export class CachedSequence {
  readonly #model: CachingModel;
  readonly #source: readonly number[] | undefined;
  readonly #tokens: number[];
  readonly #calls: Call[];
  /** The model's number; undefined: the model does not have it. */
  #id: SequenceId | undefined;
  /** Number of first tokens that are in the model's cache, and the number of first calls that appended them. */
  #cached = 0;
  #cachedCalls = 0;
  #isReleased = false;

  /** `source`: tokens for the encoder of a model that has one. The model creates the sequence with its first tokens. */
  constructor(model: CachingModel, source: readonly number[] | undefined, tokens: number[] = [], calls: Call[] = []) {
    this.#model = model;
    this.#source = source;
    this.#tokens = tokens;
    this.#calls = calls;
  }

  /** Tokens in the model's cache. */
  get cachedTokens(): number {
    return this.#cached;
  }

  /** Tokens that must be computed again before others are appended. */
  get missingTokens(): number {
    return this.#tokens.length - this.#cached;
  }

  /** The tokens of the next call that computes a dropped cache again; undefined if nothing is missing. */
  get nextMissing(): { readonly tokens: readonly number[]; readonly logits: number } | undefined {
    if (this.missingTokens === 0) return undefined;
    const { tokens, logits } = at(this.#calls, this.#cachedCalls);
    return { tokens: this.#tokens.slice(this.#cached, this.#cached + tokens), logits };
  }

  /** The model's number of the sequence, which is created if necessary. Throws errors of `createSequence`. */
  async open(signal: AbortSignal | undefined): Promise<SequenceId> {
    if (this.#id !== undefined) return this.#id;
    const id = await this.#model.createSequence(omitUndefined({ source: this.#source, signal }));
    if (this.#isReleased) await this.#model.releaseSequence(id);
    else this.#id = id;
    return id;
  }

  /** Records that the model has computed the tokens of `nextMissing`. */
  computedMissing(): void {
    this.#cached += at(this.#calls, this.#cachedCalls).tokens;
    this.#cachedCalls += 1;
  }

  /** Records that one call of the model has appended these tokens. */
  appended(tokens: readonly number[], logits: number): void {
    this.#tokens.push(...tokens);
    this.#calls.push({ tokens: tokens.length, logits });
    this.#cached = this.#tokens.length;
    this.#cachedCalls = this.#calls.length;
  }

  /** A sequence with the same tokens. */
  async fork(): Promise<CachedSequence> {
    const copies = this.#calls.map((call) => ({ ...call }));
    const copy = new CachedSequence(this.#model, this.#source, [...this.#tokens], copies);
    if (this.#id === undefined) return copy;
    [copy.#cached, copy.#cachedCalls] = [this.#cached, this.#cachedCalls];
    copy.#id = await this.#model.forkSequence(this.#id);
    return copy;
  }

  /** Removes all tokens from position `length` on. */
  async truncate(length: number): Promise<void> {
    const isCached = this.#id !== undefined && this.#cached > length;
    if (isCached && this.#id !== undefined) await this.#model.truncateSequence(this.#id, length);
    this.#tokens.length = length;
    let kept = 0;
    let total = 0;
    while (kept < this.#calls.length && total < length) {
      const call = at(this.#calls, kept);
      call.tokens = Math.min(call.tokens, length - total);
      call.logits = Math.min(call.logits, call.tokens);
      total += call.tokens;
      kept += 1;
    }
    this.#calls.length = kept;
    this.#cached = Math.min(this.#cached, length);
    this.#cachedCalls = Math.min(this.#cachedCalls, kept);
  }

  /** Frees the cache in the model. The tokens stay. */
  async drop(): Promise<void> {
    const id = this.#id;
    this.#id = undefined;
    this.#cached = 0;
    this.#cachedCalls = 0;
    if (id !== undefined) await this.#model.releaseSequence(id);
  }

  /** Frees the sequence. */
  async release(): Promise<void> {
    this.#isReleased = true;
    await this.drop();
  }
}
