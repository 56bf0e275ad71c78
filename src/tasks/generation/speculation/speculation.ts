/**
 * Speculative decoding (Leviathan et al. 2023): tokens that may come next are drafted, the model reads them in one call, and they are kept as far as it would have
 * chosen the same. The text is the same as with plain decoding.
 */
import type { SequenceId } from "../../../contract/backend.ts";
import { at } from "../../../contract/checked.ts";
import type { DecodeScheduler } from "../decode-scheduler.ts";

/** A choice is verified by a single-token call if its lead is below this multiple of the known rounding error. */
const safety = 16;
const smallestRounding = 1e-7;
/** After drafts of which no token was kept, the next is made after twice as many tokens, at most this many. */
const maxPause = 32;

/** Guesses the next tokens of one text. */
export interface Drafter {
  /** Upper bound on the tokens of the next draft. */
  readonly longest: number;
  /** Up to `count` tokens that may follow `tokens`; none if there is no guess. */
  draft(tokens: readonly number[], count: number, signal: AbortSignal | undefined): Promise<readonly number[]>;
  /** Called when the model has read a draft. */
  learn?(result: DraftCounts): void;
}

/** Numbers of tokens that were drafted and that were kept. */
export interface DraftCounts {
  readonly drafted: number;
  readonly accepted: number;
}

/** Where the logits of a text come from. */
export interface SpeculationParts {
  readonly scheduler: Pick<DecodeScheduler, "append" | "truncate" | "chunkTokens">;
  readonly sequence: SequenceId;
  /** Asked in this order, until one has a draft. */
  readonly drafters: readonly Drafter[];
  /** Number of highest logits that are needed; undefined: all. Not together with drafters, since logits are compared. */
  readonly candidates?: number | undefined;
}

/** One drafter, and how its drafts went. */
class Source {
  readonly drafter: Drafter;
  drafted = 0;
  accepted = 0;
  #failures = 0;
  #pause = 0;

  constructor(drafter: Drafter) {
    this.drafter = drafter;
  }

  /** Whether the drafter is left out this time, after drafts that failed. */
  skips(): boolean {
    if (this.#pause === 0) return false;
    this.#pause -= 1;
    return true;
  }

  count(result: DraftCounts): void {
    this.drafted += result.drafted;
    this.accepted += result.accepted;
    this.#failures = result.accepted === 0 ? this.#failures + 1 : 0;
    this.#pause = result.accepted === 0 ? Math.min(2 ** this.#failures, maxPause) : 0;
    this.drafter.learn?.(result);
  }
}

/** Gives the logits after each token of one text, from calls of one or several tokens. */
export class Speculation {
  readonly #parts: SpeculationParts;
  readonly #sources: readonly Source[];
  /** Whose draft the model has read. */
  #source: Source | undefined;
  /** Tokens that the model has read although they were not chosen yet. */
  #draft: readonly number[] = [];
  /** Logits after the last chosen token, and after each token of the draft. */
  #rows: readonly Float32Array[] = [];
  #accepted = 0;
  /** The largest difference between logits of calls with several tokens and with one, as a fraction of their spread; undefined until it was seen. */
  #rounding: number | undefined;

  constructor(parts: SpeculationParts) {
    this.#parts = parts;
    this.#sources = parts.drafters.map((drafter) => new Source(drafter));
  }

  /** Counts of drafted and accepted tokens of one drafter. */
  getCounts(drafter: Drafter): DraftCounts {
    const source = this.#sources.find((each) => each.drafter === drafter);
    const { drafted = 0, accepted = 0 } = source ?? {};
    const isOpen = source !== undefined && source === this.#source;
    return { drafted: drafted + (isOpen ? this.#draft.length : 0), accepted: accepted + (isOpen ? this.#accepted : 0) };
  }

  /**
   * Whether a single-token call might choose a different token than the last call, given the lead of the choice (`TokenSampler.lead`): engines round
   * differently in calls with several tokens. The first such call of a text is always compared with a single-token call, to measure the difference.
   */
  isUnsure(lead: number): boolean {
    return this.#rows.length > 1 && (this.#rounding === undefined || lead < safety * this.#rounding);
  }

  /** The logits after the last of `tokens`, which the model has not read yet. `room`: number of tokens that may follow it. */
  async after(tokens: readonly number[], room: number, signal: AbortSignal | undefined): Promise<Float32Array> {
    const last = at(tokens, tokens.length - 1);
    if (this.#draft[this.#accepted] === last) {
      this.#accepted += 1;
      return at(this.#rows, this.#accepted);
    }
    if (this.#accepted < this.#draft.length) await this.#parts.scheduler.truncate(this.#parts.sequence, tokens.length - 1);
    this.#endDraft();
    return await this.#read(last, await this.#propose(tokens, room, signal), signal);
  }

  /** The logits after the last of `tokens` once more, from a call with this token alone. */
  async again(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    const { scheduler, sequence } = this.#parts;
    const before = at(this.#rows, this.#accepted);
    this.#endDraft();
    await scheduler.truncate(sequence, tokens.length - 1);
    const logits = await this.#read(at(tokens, tokens.length - 1), [], signal);
    this.#rounding = Math.max(this.#rounding ?? smallestRounding, difference(before, logits));
    return logits;
  }

  async #read(last: number, draft: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    const { scheduler, sequence, candidates } = this.#parts;
    const logits = await scheduler.append(sequence, [last, ...draft], signal, draft.length + 1, candidates);
    const width = logits.length / (draft.length + 1);
    this.#draft = draft;
    this.#rows = Array.from({ length: draft.length + 1 }, (_, row) => logits.subarray(row * width, (row + 1) * width));
    this.#accepted = 0;
    return at(this.#rows, 0);
  }

  #endDraft(): void {
    this.#source?.count({ drafted: this.#draft.length, accepted: this.#accepted });
    this.#source = undefined;
    this.#draft = [];
    this.#accepted = 0;
  }

  async #propose(tokens: readonly number[], room: number, signal: AbortSignal | undefined): Promise<readonly number[]> {
    for (const source of this.#sources) {
      if (source.skips()) continue;
      const count = Math.min(source.drafter.longest, room, this.#parts.scheduler.chunkTokens - 1); // with the last token, one call
      const draft = count < 1 ? [] : await source.drafter.draft(tokens, count, signal);
      if (draft.length === 0) continue;
      this.#source = source;
      return draft;
    }
    return [];
  }
}

/** The largest difference of two rows of logits, as a fraction of the spread of the second. */
function difference(row: Float32Array, other: Float32Array): number {
  let [highest, lowest, largest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (const [index, logit] of other.entries()) {
    if (!Number.isFinite(logit)) continue;
    highest = Math.max(highest, logit);
    lowest = Math.min(lowest, logit);
    largest = Math.max(largest, Math.abs(logit - at(row, index)));
  }
  return highest > lowest ? largest / (highest - lowest) : 0;
}
