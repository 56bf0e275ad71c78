/** Keeps the caches of prompts, so that a prompt which begins with the same tokens is read from there on only. */
import type { SequenceId } from "../../contract/backend.ts";
import type { DecodeScheduler } from "./decode-scheduler.ts";

/** Bytes of caches that are kept for one model. */
const defaultMaxBytes = 268_435_456;

/** The part of a scheduler that the cache uses. */
type Sequences = Pick<DecodeScheduler, "create" | "fork" | "truncate" | "release" | "chunkTokens">;

interface Kept {
  readonly tokens: readonly number[];
  readonly sequence: SequenceId;
  /** Number of texts that are taking a copy. */
  readers: number;
}

/** A sequence that already holds the first `length` tokens of the prompt. */
export interface OpenedSequence {
  readonly sequence: SequenceId;
  readonly length: number;
}

/**
 * Caches of prompts, the least recently used first. The kept part of a prompt ends at a boundary of the pieces into which the scheduler divides prompts: the
 * bits of a cache depend on the pieces, so a text has the same bits with and without a kept prefix.
 */
export class PrefixCache {
  readonly #sequences: Sequences;
  readonly #bytesPerToken: number;
  readonly #maxBytes: number;
  #kept: Kept[] = [];

  constructor(sequences: Sequences, bytesPerToken: number, maxBytes: number = defaultMaxBytes) {
    this.#sequences = sequences;
    this.#bytesPerToken = bytesPerToken;
    this.#maxBytes = maxBytes;
  }

  /** Tokens that are kept, of all prompts. */
  get keptTokens(): number {
    return this.#kept.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  /** A sequence with as much of the prompt as is kept; at least its last token is left to be read. */
  async open(prompt: readonly number[]): Promise<OpenedSequence> {
    const [best, length] = this.#longest(prompt);
    if (best === undefined) return { sequence: await this.#sequences.create(undefined), length: 0 };
    this.#kept = [...this.#kept.filter((other) => other !== best), best];
    best.readers += 1;
    try {
      const sequence = await this.#sequences.fork(best.sequence);
      if (length < best.tokens.length) await this.#sequences.truncate(sequence, length);
      return { sequence, length };
    } catch {
      // Its process has died: all that was kept is gone.
      this.#kept = this.#kept.filter((other) => other !== best);
      return { sequence: await this.#sequences.create(undefined), length: 0 };
    } finally {
      best.readers -= 1;
    }
  }

  /** Takes over a sequence whose text is finished: keeps the beginning of its prompt, or frees it. */
  async close(sequence: SequenceId, prompt: readonly number[]): Promise<void> {
    const tokens = prompt.slice(0, this.#wholePieces(prompt.length));
    const isKept = this.#kept.some((other) => commonLength(other.tokens, tokens) === tokens.length);
    if (isKept || tokens.length * this.#bytesPerToken > this.#maxBytes) {
      await this.#sequences.release(sequence);
      return;
    }
    await this.#sequences.truncate(sequence, tokens.length);
    this.#kept.push({ tokens, sequence, readers: 0 });
    await this.#evict();
  }

  /** The kept prompt with the most of the first tokens, and how many: whole pieces. */
  #longest(prompt: readonly number[]): readonly [Kept | undefined, number] {
    let best: Kept | undefined;
    let longest = 0;
    for (const kept of this.#kept) {
      const length = this.#wholePieces(Math.min(commonLength(kept.tokens, prompt), prompt.length - 1));
      if (length <= longest) continue;
      best = kept;
      longest = length;
    }
    return [best, longest];
  }

  #wholePieces(length: number): number {
    return length - (length % this.#sequences.chunkTokens);
  }

  /** Frees what a longer prompt contains, and then the least recently used, until the rest is within the limit. */
  async #evict(): Promise<void> {
    const newest = this.#kept.at(-1);
    let bytes = this.keptTokens * this.#bytesPerToken;
    const freed = this.#kept.filter((kept) => {
      const isContained = newest !== undefined && commonLength(newest.tokens, kept.tokens) === kept.tokens.length;
      if (kept === newest || kept.readers > 0 || !(isContained || bytes > this.#maxBytes)) return false;
      bytes -= kept.tokens.length * this.#bytesPerToken;
      return true;
    });
    this.#kept = this.#kept.filter((kept) => !freed.includes(kept));
    await Promise.all(freed.map(({ sequence }) => this.#sequences.release(sequence)));
  }
}

/** Number of leading tokens that two texts have in common. */
export function commonLength(left: readonly number[], right: readonly number[]): number {
  const limit = Math.min(left.length, right.length);
  let length = 0;
  while (length < limit && left[length] === right[length]) length += 1;
  return length;
}
