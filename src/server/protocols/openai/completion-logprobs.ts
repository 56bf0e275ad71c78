/** Log probabilities of completions, in the lists of OpenAI's older API. */
import type { PromptLogprob } from "../../../tasks/generation/generated-text.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** Lists with one entry per token. */
export interface CompletionLogprobs {
  /** The text of each token. */
  readonly tokens: readonly string[];
  /** Null for the first token of a prompt, which nothing precedes. */
  readonly token_logprobs: readonly (number | null)[];
  /** The log probabilities of the most probable tokens and of the token itself, by their texts. */
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
  /** Offset of each token in the text of the choice, in characters. */
  readonly text_offset: readonly number[];
}

/** The lists for tokens that follow one another. `offset`: where the first one begins in the text of the choice. */
export function completionLogprobs(
  logprobs: readonly PromptLogprob[],
  tokenizer: Tokenizer | undefined,
  offset = 0,
): CompletionLogprobs {
  const textOf = (id: number): string => tokenizer?.decode([id], { skipSpecialTokens: false }) ?? "";
  const tokens = logprobs.map(({ token }) => textOf(token));
  let end = offset;
  const starts = logprobs.map(({ token }, index) => {
    const start = end;
    end += lengthInText(token, tokens[index] ?? "", tokenizer);
    return start;
  });
  return {
    tokens,
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ token: own, logprob: ownLogprob, top }) => {
      if (ownLogprob === null) return null;
      // Several tokens may have one text: the most probable stays. The token itself is among them, as in OpenAI's API.
      const pairs = [...top, { token: own, logprob: ownLogprob }].toSorted((left, right) => left.logprob - right.logprob);
      const last = new Map(pairs.map(({ token, logprob }) => [textOf(token), logprob]));
      return Object.fromEntries([...last].toSorted(([, left], [, right]) => right - left));
    }),
    text_offset: starts,
  };
}

/** Characters of a token in a text without special tokens. */
function lengthInText(id: number, text: string, tokenizer: Tokenizer | undefined): number {
  const isLeftOut = text.trim() !== "" && tokenizer?.decode([id]) === "";
  return isLeftOut ? 0 : text.length;
}
