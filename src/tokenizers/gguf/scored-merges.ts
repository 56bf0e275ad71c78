/** The merges of SentencePiece BPE, which has scores of tokens in place of a list of merges. */
import { findMerges } from "../config/token-merges.ts";

/** Merges in the form of tokenizer.json, with their order. */
export interface ScoredMerges {
  readonly merges: readonly (readonly [left: string, right: string])[];
  /** Rank of each merge. Merges that make tokens of equal score share a rank: of these the leftmost in a text is applied first. */
  readonly merge_ranks: readonly number[];
}

/** All ways to make a token of two others, ordered by the score of that token, the highest first. Throws as `findMerges`. */
export function scoredMerges(tokens: readonly string[], scores: readonly number[]): ScoredMerges {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const scoreOf = (id: number): number => scores[id] ?? 0;
  const found = findMerges(tokens.entries(), ids).sort((a, b) => scoreOf(b.id) - scoreOf(a.id));
  let rank = -1;
  let previous = Number.NaN;
  const ranks = found.map(({ id }) => {
    if (scoreOf(id) !== previous) rank += 1;
    previous = scoreOf(id);
    return rank;
  });
  return { merges: found.map(({ merge }) => merge), merge_ranks: ranks };
}
