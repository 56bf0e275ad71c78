/** The token that a generated text is decoded after. */
import type { Tokenizer } from "../../../tokenizers/index.ts";

/**
 * The last token of a prompt that is text by itself: neither a special token that is left out of texts, nor a part of a character. Generated tokens are decoded
 * after it, since decoders leave out the space of the first token of a text. Undefined if the prompt has no such token: then the generated text is the first.
 */
export function continuedToken(
  prompt: readonly number[],
  tokenizer: Pick<Tokenizer, "decode" | "idToToken">,
  skipSpecialTokens: boolean,
): number | undefined {
  return prompt.findLast((token) => {
    if (tokenizer.idToToken(token) === undefined) return false;
    const text = tokenizer.decode([token], { skipSpecialTokens: false });
    if (text.includes("\uFFFD")) return false;
    // A lone space decodes to nothing where decoders leave out the first one.
    return !skipSpecialTokens || text === "" || tokenizer.decode([token]) !== "";
  });
}
