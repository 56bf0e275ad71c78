/**
 * Prompt look-up (Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding): where the last tokens of a text occurred before, those that followed
 * are tried again. The model reads them in one call, and they are kept as far as it would have chosen the same.
 */
import type { SequenceId } from "../../backend.ts";
import { at } from "../../checked.ts";
import type { DecodeScheduler } from "./decode-scheduler.ts";

/** Lengths of the ends of a text that are looked for, longest first. A single token occurs too often. */
const endLengths = [4, 3, 2] as const;
/** A lead of so many times the known rounding is safe. */
const safety = 16;
const smallestRounding = 1e-7;
/** After tries that failed, the next is made after twice as many tokens, at most this many. */
const maxPause = 32;

/** Where the logits of a text come from. */
export interface LookupParts {
  readonly scheduler: Pick<DecodeScheduler, "append" | "truncate" | "chunkTokens">;
  readonly sequence: SequenceId;
  /** Tokens that are tried at once, at most. */
  readonly longest: number;
  /** The encoder's tokens, which are searched too; empty for models without one. */
  readonly source: readonly number[];
  /** Number of highest logits that are needed; undefined: all. Not together with `longest` above 0, which compares logits. */
  readonly candidates?: number | undefined;
}

/** Gives the logits after each token of one text, from calls of one or several tokens. */
export class PromptLookup {
  /** Numbers of tokens that were tried and that were kept. */
  readonly counts: { drafted: number; accepted: number } = { drafted: 0, accepted: 0 };
  readonly #parts: LookupParts;
  /** Tokens that the model has read although they were not chosen yet. */
  #draft: readonly number[] = [];
  /** Logits after the last chosen token, and after each token of the draft. */
  #rows: readonly Float32Array[] = [];
  #accepted = 0;
  /** The largest difference between logits of calls with several tokens and with one, as a fraction of their spread; undefined until it was seen. */
  #rounding: number | undefined;
  #failures = 0;
  #pause = 0;

  constructor(parts: LookupParts) {
    this.#parts = parts;
  }

  /**
   * Whether a token with this lead (`TokenSampler.lead`) might not be the one of a call with a single token: the logits that were given last are of a call
   * with several, in which engines round otherwise. The first such call of a text is always compared with one of a single token, to learn by how much.
   */
  isUnsure(lead: number): boolean {
    return this.#rows.length > 1 && (this.#rounding === undefined || lead < safety * this.#rounding);
  }

  /** The logits after the last of `tokens`, which the model has not read yet. `room`: number of tokens that may follow it. */
  async after(tokens: readonly number[], room: number, signal: AbortSignal | undefined): Promise<Float32Array> {
    const last = at(tokens, tokens.length - 1);
    if (this.#draft[this.#accepted] === last) {
      this.#accepted += 1;
      this.counts.accepted += 1;
      return at(this.#rows, this.#accepted);
    }
    if (this.#draft.length > 0) await this.#endDraft(tokens.length - 1);
    return await this.#read(last, this.#lookUp(tokens, room), signal);
  }

  /** The logits after the last of `tokens` once more, from a call with this token alone. */
  async again(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    const { scheduler, sequence } = this.#parts;
    const before = at(this.#rows, this.#accepted);
    this.#draft = [];
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
    this.counts.drafted += draft.length;
    return at(this.#rows, 0);
  }

  /** Removes the tokens of the draft that were not chosen; `length` is the number of tokens that the model is to keep. */
  async #endDraft(length: number): Promise<void> {
    const { scheduler, sequence } = this.#parts;
    this.#failures = this.#accepted === 0 ? this.#failures + 1 : 0;
    this.#pause = this.#accepted === 0 ? Math.min(2 ** this.#failures, maxPause) : 0;
    if (this.#accepted < this.#draft.length) await scheduler.truncate(sequence, length);
    this.#draft = [];
  }

  /** What followed the last occurrence of the end of the text, longer ends first. */
  #lookUp(tokens: readonly number[], room: number): readonly number[] {
    if (this.#pause > 0) {
      this.#pause -= 1;
      return [];
    }
    const { longest, source, scheduler } = this.#parts;
    const count = Math.min(longest, room, scheduler.chunkTokens - 1); // with the last token, one call
    if (count < 1) return [];
    const text = [...source, ...tokens];
    for (const length of endLengths) {
      const start = lastOccurrence(text, length);
      if (start !== undefined) return continued(text.slice(start + length), count);
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

/** The first `count` of the tokens, and then from the first on again: a text that has begun to repeat itself goes on so. */
function continued(tokens: readonly number[], count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => at(tokens, index % tokens.length));
}

/** Where the last `length` tokens occurred before; undefined if nowhere. */
function lastOccurrence(tokens: readonly number[], length: number): number | undefined {
  const end = tokens.length - length;
  for (let start = end - 1; start >= 0; start -= 1) {
    let same = 0;
    while (same < length && tokens[start + same] === tokens[end + same]) same += 1;
    if (same === length) return start;
  }
  return undefined;
}
