/** Log probabilities in Ollama's form. */
import type { GeneratedLogprob } from "../../../tasks/generation/generated-text.ts";
import type { TokenTexts } from "../generation/token-texts.ts";

/** A token with its log probability. */
interface OllamaToken {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** The tokens with their most probable alternatives. */
export function ollamaLogprobs(
  logprobs: readonly GeneratedLogprob[],
  texts: TokenTexts,
): readonly (OllamaToken & { readonly top_logprobs?: readonly OllamaToken[] })[] {
  const getToken = (id: number, logprob: number): OllamaToken => {
    const { text, bytes } = texts.shown(id);
    return { token: text, logprob, bytes: [...bytes] };
  };
  return logprobs.map(({ token, logprob, top }) => ({
    ...getToken(token, logprob),
    ...(top.length === 0 ? {} : { top_logprobs: top.map((each) => getToken(each.token, each.logprob)) }),
  }));
}
