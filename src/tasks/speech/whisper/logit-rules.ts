/**
 * Which tokens may follow, as Whisper's authors decode: https://github.com/openai/whisper, `whisper/decoding.py` (SuppressBlank, SuppressTokens,
 * ApplyTimestampRules). A suppressed token has the logit -Infinity.
 */
import { exponentialSum, highestLogit } from "../../generation/sampling/filters.ts";
import type { WhisperVocabulary } from "./whisper-vocabulary.ts";

/** Settings of the rules. */
export interface RuleSettings {
  /** Whether the text has timestamps. */
  readonly hasTimestamps: boolean;
  /** Whether the first token may be a space or the end of the text. */
  readonly suppressesBlank: boolean;
  /** Largest number of steps of 20 ms that the first timestamp may have. */
  readonly maxInitialTimestamp: number;
}

/** Suppresses logits in place. `sampled`: the tokens that were chosen so far, without the prompt. */
export function applyRules(
  logits: Float32Array,
  sampled: readonly number[],
  vocabulary: WhisperVocabulary,
  { hasTimestamps, suppressesBlank, maxInitialTimestamp }: RuleSettings,
): void {
  const suppress = (id: number): void => void (logits[id] = Number.NEGATIVE_INFINITY);
  if (sampled.length === 0 && suppressesBlank) vocabulary.suppressedFirst.forEach(suppress);
  // Lists of tokens that are never written may name the timestamps, of which no text with timestamps can do without.
  for (const id of vocabulary.suppressed) if (!hasTimestamps || id < vocabulary.firstTimestamp) suppress(id);
  logits.fill(Number.NEGATIVE_INFINITY, vocabulary.lastTimestamp + 1);
  if (hasTimestamps) applyTimestampRules(logits, sampled, vocabulary, maxInitialTimestamp);
}

/** Timestamps come in pairs, one at the end of a segment and one at the start of the next; they do not decrease, and a segment is not empty. */
function applyTimestampRules(
  logits: Float32Array,
  sampled: readonly number[],
  { noTimestamps, firstTimestamp, endOfText }: WhisperVocabulary,
  maxInitialTimestamp: number,
): void {
  logits[noTimestamps] = Number.NEGATIVE_INFINITY;
  const isTimestamp = (token: number | undefined): boolean => token !== undefined && token >= firstTimestamp;
  const endsInTimestamp = isTimestamp(sampled.at(-1));
  const isPaired = sampled.length < 2 || isTimestamp(sampled.at(-2));
  if (endsInTimestamp && isPaired) logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp);
  else if (endsInTimestamp) logits.fill(Number.NEGATIVE_INFINITY, 0, endOfText);
  const last = sampled.findLast(isTimestamp);
  if (last !== undefined) logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, endsInTimestamp && !isPaired ? last : last + 1);
  if (sampled.length === 0) {
    logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp + maxInitialTimestamp + 1);
  }
  // A timestamp follows where all timestamps together are more probable than any other token.
  const [texts, times] = [logits.subarray(0, firstTimestamp), logits.subarray(firstTimestamp)];
  if (logSumExp(times) > highestLogit(texts)) texts.fill(Number.NEGATIVE_INFINITY);
}

/** The logarithm of the sum of the exponentials; -Infinity where all are. */
export function logSumExp(logits: Float32Array): number {
  const max = highestLogit(logits);
  if (max === Number.NEGATIVE_INFINITY) return max;
  return max + Math.log(exponentialSum(logits, max));
}
