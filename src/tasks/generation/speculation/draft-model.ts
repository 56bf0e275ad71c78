/** Drafts by a smaller language model with the same vocabulary. */
import type { SequenceId } from "../../../contract/backend.ts";
import type { DecodeScheduler, DecodingModel } from "../decode-scheduler.ts";
import { type PrefixCache, commonLength } from "../prefix-cache.ts";
import type { DraftCounts, Drafter } from "./speculation.ts";

/** A language model that drafts. */
export interface DraftModelParts {
  readonly scheduler: Pick<DecodeScheduler, "append" | "truncate">;
  readonly prefixes: Pick<PrefixCache, "open" | "close">;
  readonly limits: Pick<DecodingModel["limits"], "contextLength">;
  /** Number of tokens that the model to draft for knows: higher logits are not chosen. */
  readonly vocabulary: number;
}

/** Drafts the most probable tokens of a smaller model. Drafts become longer while all of their tokens are kept, and shorter otherwise. */
export class DraftModel implements Drafter {
  longest: number;
  readonly #limit: number;
  readonly #parts: DraftModelParts;
  #sequence: SequenceId | undefined;
  /** Tokens that the draft model has read. */
  #read: readonly number[] = [];
  /** The text of the first draft, whose beginning is kept for later texts. */
  #prompt: readonly number[] = [];

  /** `limit`: number of tokens of a draft, at most. */
  constructor(parts: DraftModelParts, limit: number) {
    this.#parts = parts;
    this.#limit = limit;
    this.longest = limit;
  }

  async draft(tokens: readonly number[], count: number, signal: AbortSignal | undefined): Promise<readonly number[]> {
    const { scheduler, limits, vocabulary } = this.#parts;
    if (tokens.length + count > (limits.contextLength ?? Number.POSITIVE_INFINITY)) return [];
    const sequence = await this.#open(tokens);
    const kept = Math.min(commonLength(this.#read, tokens), tokens.length - 1);
    if (kept < this.#read.length) await scheduler.truncate(sequence, kept);
    const drafted: number[] = [];
    let fresh = tokens.slice(kept);
    this.#read = tokens.slice(0, kept);
    while (drafted.length < count) {
      const logits = await scheduler.append(sequence, fresh, signal, 1, 1);
      this.#read = [...this.#read, ...fresh];
      const token = highest(logits.subarray(0, vocabulary));
      drafted.push(token);
      fresh = [token];
    }
    return drafted;
  }

  learn({ drafted, accepted }: DraftCounts): void {
    this.longest = accepted === drafted ? Math.min(this.longest + 2, this.#limit) : Math.max(1, this.longest - 1);
  }

  /** Frees the sequence, but for the beginning that is kept for later texts. */
  async end(): Promise<void> {
    if (this.#sequence === undefined) return;
    await this.#parts.prefixes.close(this.#sequence, this.#read.slice(0, commonLength(this.#read, this.#prompt)));
    this.#sequence = undefined;
  }

  async #open(tokens: readonly number[]): Promise<SequenceId> {
    if (this.#sequence === undefined) {
      const { sequence, length } = await this.#parts.prefixes.open(tokens);
      this.#sequence = sequence;
      this.#read = tokens.slice(0, length);
      this.#prompt = tokens;
    }
    return this.#sequence;
  }
}

function highest(logits: Float32Array): number {
  let [best, value] = [0, Number.NEGATIVE_INFINITY];
  for (const [token, logit] of logits.entries()) if (logit > value) [best, value] = [token, logit];
  return best;
}
