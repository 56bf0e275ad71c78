/** Ids of added tokens. */
import { getOrInsert } from "../../contract/checked.ts";
import type { AddedToken } from "./tokenizer-json.ts";

/**
 * Assigns ids to added tokens as the Rust library's `AddedVocabulary` does, without regard to the ids in the file: a token of the vocabulary keeps its id,
 * others get the next free id. In a consistent file these are the ids it states.
 */
export function numberAddedTokens(tokens: readonly AddedToken[], vocabulary: ReadonlyMap<string, number>): AddedToken[] {
  const ids = new Map<string, number>();
  let highest = -1;
  return tokens.map((token) => {
    const id = getOrInsert(ids, token.content, () => vocabulary.get(token.content) ?? Math.max(highest + 1, vocabulary.size));
    highest = Math.max(highest, id);
    return { ...token, id };
  });
}
