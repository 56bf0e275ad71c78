/** Greedy decoding of CTC (connectionist temporal classification, Graves et al. 2006), with the times of words. */
import type { CtcVocabulary } from "./ctc-vocabulary.ts";

/** Log probabilities of one run of the same token. */
export interface CtcToken {
  readonly id: number;
  /** First frame, and the frame after the last. */
  readonly start: number;
  readonly end: number;
  /** Log probability of the token in its most probable frame. */
  readonly logProbability: number;
}

/** A word with its frames. */
export interface CtcWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Mean log probability of its tokens. */
  readonly logProbability: number;
  /** Ids of its tokens. */
  readonly tokens: readonly number[];
}

/** The most probable token of each frame of logits, row-major `[frames, width]`, and its log probability. */
export function takeBest(
  logits: Float32Array,
  width: number,
): { readonly ids: Int32Array; readonly logProbabilities: Float64Array } {
  const frames = Math.floor(logits.length / width);
  const ids = new Int32Array(frames);
  const logProbabilities = new Float64Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const row = logits.subarray(frame * width, (frame + 1) * width);
    let best = 0;
    for (let id = 1; id < width; id++) if ((row[id] ?? 0) > (row[best] ?? 0)) best = id;
    const highest = row[best] ?? 0;
    let sum = 0;
    for (const logit of row) sum += Math.exp(logit - highest);
    ids[frame] = best;
    logProbabilities[frame] = -Math.log(sum);
  }
  return { ids, logProbabilities };
}

/** Collapses runs of the same id, and leaves out the blank. */
export function collapse(ids: Int32Array, logProbabilities: Float64Array, blank: number): CtcToken[] {
  const tokens: CtcToken[] = [];
  for (let start = 0; start < ids.length;) {
    const id = ids[start] ?? 0;
    let end = start;
    let logProbability = -Infinity;
    for (; end < ids.length && ids[end] === id; end++) logProbability = Math.max(logProbability, logProbabilities[end] ?? 0);
    if (id !== blank) tokens.push({ id, start, end, logProbability });
    start = end;
  }
  return tokens;
}

/** Words of tokens: what is between delimiters. Without a delimiter in the vocabulary all tokens are one word. */
export function toWords(tokens: readonly CtcToken[], { tokens: names, delimiter, lowerCase }: CtcVocabulary): CtcWord[] {
  const words: CtcToken[][] = [[]];
  for (const token of tokens) {
    if (token.id === delimiter) words.push([]);
    else words.at(-1)?.push(token);
  }
  return words.flatMap((parts) => {
    const text = parts.map(({ id }) => names[id] ?? "").join("");
    const [first] = parts;
    const last = parts.at(-1);
    if (first === undefined || last === undefined || text === "") return [];
    const logProbability = parts.reduce((sum, part) => sum + part.logProbability, 0) / parts.length;
    const tokens = parts.map(({ id }) => id);
    return [{ word: lowerCase ? text.toLowerCase() : text, start: first.start, end: last.end, logProbability, tokens }];
  });
}
