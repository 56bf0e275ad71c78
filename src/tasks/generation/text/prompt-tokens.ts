/** The tokens of prompts: what a model reads, and what is refused. */
import { InferyardError, invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import type { GenerationConfig } from "../sampling/generation-config.ts";

/** A prompt: a text, or its token ids. */
export type Prompt = string | readonly number[];

/** The tokenizer of a prompt; undefined for token ids. Throws MODEL_UNSUPPORTED for a text if the model has none, and INPUT_INVALID for ids that it does not know. */
export function checkPrompt(prompt: Prompt, tokenizer: Tokenizer | undefined, vocabulary: number): Tokenizer | undefined {
  if (typeof prompt === "string") return requireTokenizer(tokenizer);
  const wrong = prompt.find((token) => !Number.isInteger(token) || token < 0 || token >= vocabulary);
  if (wrong === undefined) return undefined;
  throw invalidInput(`the prompt has the token ${String(wrong)}`, `token ids of this model are from 0 to ${vocabulary - 1}`);
}

/** Throws MODEL_UNSUPPORTED for a model without a tokenizer. */
export function requireTokenizer(tokenizer: Tokenizer | undefined): Tokenizer {
  if (tokenizer !== undefined) return tokenizer;
  throw unsupportedModel("the model's folder has no tokenizer.json", "give prompts as token ids, or add the file");
}

/** The tokens of a prompt; of an empty one the start token. Throws INPUT_INVALID if the model has none. */
export function requireTokens(tokens: readonly number[], { startToken }: GenerationConfig): readonly number[] {
  if (tokens.length > 0) return tokens;
  if (startToken !== undefined) return [startToken];
  throw invalidInput("the prompt is empty", "give at least one token");
}

/** The first token of the decoder of a model with an encoder. Throws MODEL_INVALID if the model's files state none. */
export function requireDecoderStart({ decoderStartToken }: Pick<GenerationConfig, "decoderStartToken">): number {
  if (decoderStartToken !== undefined) return decoderStartToken;
  throw new InferyardError("MODEL_INVALID", "neither generation_config.json nor config.json has a decoder_start_token_id", {
    remedy: "add it to generation_config.json",
  });
}
