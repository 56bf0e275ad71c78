/** Beam search for the text of a window, as CTranslate2 4 searches for faster-whisper with patience 1 and length penalty 1. */
import type { LanguageModel, SequenceId } from "../../../contract/language-model.ts";
import { at, omitUndefined } from "../../../contract/checked.ts";
import { applyRules, logSumExp, type RuleSettings } from "./logit-rules.ts";
import type { WhisperVocabulary } from "./whisper-vocabulary.ts";

type SearchedModel = Pick<LanguageModel, "forkSequence" | "releaseSequence" | "decode">;

/** What a text is searched with. */
export interface SearchSettings {
  readonly rules: RuleSettings;
  /** Number of texts that are extended at the same time, 2 or more. */
  readonly beams: number;
  readonly maxNewTokens: number;
  readonly signal: AbortSignal | undefined;
}

/** A text and the sum of the log probabilities of its tokens, and of its end if it has one. */
export interface FoundText {
  readonly tokens: readonly number[];
  readonly sum: number;
}

interface Beam extends FoundText {
  readonly sequence: SequenceId;
  readonly logits: Float32Array;
}

interface Candidate {
  readonly parent: Beam;
  readonly token: number;
  readonly sum: number;
}

/**
 * The text with the highest mean log probability among those that ended before the most probable of all ended. `sequence` has read a window and a prompt, of which `logits` follow, and is changed;
 * sequences that are created are released.
 */
export async function searchText(
  model: SearchedModel,
  { sequence, logits }: { readonly sequence: SequenceId; readonly logits: Float32Array },
  vocabulary: WhisperVocabulary,
  { rules, beams: count, maxNewTokens, signal }: SearchSettings,
): Promise<FoundText> {
  const finished: FoundText[] = [];
  const forks = new Set<SequenceId>();
  let beams: readonly Beam[] = [{ sequence, tokens: [], sum: 0, logits }];
  try {
    for (let length = 0; length < maxNewTokens; length += 1) {
      const candidates = findCandidates(beams, 2 * count, vocabulary, rules);
      const isLast = length === maxNewTokens - 1;
      const next: Candidate[] = [];
      for (const [rank, candidate] of candidates.entries()) {
        const { parent, token, sum } = candidate;
        const isEnd = token === vocabulary.endOfText;
        if (isEnd && rank < count) finished.push({ tokens: parent.tokens, sum });
        else if (!isEnd && next.length < count) next.push(candidate);
      }
      if (isLast) finished.push(...next.map(({ parent, token, sum }) => ({ tokens: [...parent.tokens, token], sum })));
      // No text that goes on is more probable than one that ended first.
      if (isLast || candidates[0]?.token === vocabulary.endOfText || next.length === 0) break;
      beams = await extend(model, next, forks, signal);
    }
  } finally {
    for (const fork of forks) await model.releaseSequence(fork);
  }
  const score = ({ tokens, sum }: FoundText): number => sum / Math.max(tokens.length, 1);
  return finished.reduce((one, other) => (score(other) > score(one) ? other : one), finished[0] ?? { tokens: [], sum: 0 });
}

/** The most probable continuations of all beams, the best first. */
function findCandidates(
  beams: readonly Beam[],
  count: number,
  vocabulary: WhisperVocabulary,
  rules: RuleSettings,
): readonly Candidate[] {
  const best: Candidate[] = [];
  for (const parent of beams) {
    const { logits, tokens } = parent;
    applyRules(logits, tokens, vocabulary, rules);
    const offset = parent.sum - logSumExp(logits);
    for (const [token, logit] of logits.entries()) {
      const sum = offset + logit;
      if (sum === Number.NEGATIVE_INFINITY || (best.length === count && sum <= at(best, count - 1).sum)) continue;
      let place = best.length;
      while (place > 0 && at(best, place - 1).sum < sum) place -= 1;
      best.splice(place, 0, { parent, token, sum });
      best.length = Math.min(best.length, count);
    }
  }
  return best;
}

/** Reads the tokens of candidates: the first of a beam goes on with its sequence, the others with forks of it. */
async function extend(
  model: SearchedModel,
  candidates: readonly Candidate[],
  forks: Set<SequenceId>,
  signal: AbortSignal | undefined,
): Promise<readonly Beam[]> {
  const kept = new Set<SequenceId>();
  const sequences: SequenceId[] = [];
  for (const { parent } of candidates) {
    const isTaken = kept.has(parent.sequence);
    const own = isTaken ? await model.forkSequence(parent.sequence) : parent.sequence;
    if (isTaken) forks.add(own);
    kept.add(own);
    sequences.push(own);
  }
  for (const fork of forks) {
    if (kept.has(fork)) continue;
    forks.delete(fork);
    await model.releaseSequence(fork);
  }
  const steps = candidates.map(({ token }, index) => ({ sequence: at(sequences, index), tokens: [token] }));
  const logits = await model.decode(steps, omitUndefined({ signal }));
  return candidates.map(({ parent, token, sum }, index) => ({
    sequence: at(sequences, index),
    tokens: [...parent.tokens, token],
    sum,
    logits: at(logits, index),
  }));
}
