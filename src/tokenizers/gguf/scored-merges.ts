/** The merges of SentencePiece BPE, which has scores of tokens in place of a list of merges. */

/** Merges in the form of tokenizer.json, with their order. */
export interface ScoredMerges {
  readonly merges: readonly (readonly [left: string, right: string])[];
  /** Rank of each merge. Merges that make tokens of equal score share a rank: of these the leftmost in a text is applied first. */
  readonly merge_ranks: readonly number[];
}

/**
 * All pairs of tokens that form a token, ordered by the score of that token, the highest first. Throws Error above the limit, which only adversarial
 * vocabularies exceed.
 */
export function scoredMerges(tokens: readonly string[], scores: readonly number[]): ScoredMerges {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const found: { readonly pair: readonly [string, string]; readonly score: number }[] = [];
  for (const [id, token] of tokens.entries()) {
    const score = scores[id] ?? 0;
    for (let at = 1; at < token.length; at += 1) {
      // Not between the halves of a surrogate pair.
      if ((token.charCodeAt(at) & 0xfc00) === 0xdc00) continue;
      const pair = [token.slice(0, at), token.slice(at)] as const;
      if (ids.has(pair[0]) && ids.has(pair[1])) found.push({ pair, score });
    }
    if (found.length > maxMerges) throw new Error(`its tokens can be made in more than ${maxMerges} ways`);
  }
  found.sort((a, b) => b.score - a.score);
  let rank = -1;
  let previous = Number.NaN;
  const ranks = found.map(({ score }) => {
    if (score !== previous) rank += 1;
    previous = score;
    return rank;
  });
  return { merges: found.map(({ pair }) => pair), merge_ranks: ranks };
}

/** Gemma's vocabulary of 262,144 tokens has 515,000. */
const maxMerges = 4_000_000;
