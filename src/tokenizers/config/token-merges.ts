/** Merges of BPE for vocabularies that have none: all ways to make a token of two others. */

/** A way to make the token of an id. */
export interface TokenMerge {
  readonly id: number;
  readonly merge: readonly [left: string, right: string];
}

/** Gemma's vocabulary of 262,144 tokens has 515,000 merges. */
const maxMerges = 4_000_000;

/** The merges of these tokens in their order, by ascending length of the left part. Throws Error above the limit, which only tokens made for the purpose exceed. */
export function findMerges(
  tokens: Iterable<readonly [id: number, token: string]>,
  ids: ReadonlyMap<string, number>,
): TokenMerge[] {
  const found: TokenMerge[] = [];
  for (const [id, token] of tokens) {
    for (let at = 1; at < token.length; at += 1) {
      if ((token.charCodeAt(at) & 0xfc00) === 0xdc00) continue; // not between the halves of a surrogate pair
      const [left, right] = [token.slice(0, at), token.slice(at)];
      if (ids.has(left) && ids.has(right)) found.push({ id, merge: [left, right] });
    }
    if (found.length > maxMerges) throw new Error(`its tokens can be made in more than ${maxMerges} ways`);
  }
  return found;
}
