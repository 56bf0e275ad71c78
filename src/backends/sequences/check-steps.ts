/** Checks of what a language model is asked to decode. */
import type { DecodeStep, LanguageModelLimits, SequenceOptions } from "../../contract/backend.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";

/** Checks the steps of one call. Throws INPUT_INVALID for a sequence named twice, ids outside of the vocabulary, logits of more positions than tokens, and fewer than one candidate. */
export function checkSteps(steps: readonly DecodeStep[], vocabulary: number): void {
  const named = new Set(steps.map(({ sequence }) => sequence));
  if (named.size < steps.length) throw invalidInput("a sequence is named twice in one call");
  for (const { tokens, logits = 1, candidates = 1 } of steps) {
    checkTokens(tokens, vocabulary);
    if (!Number.isSafeInteger(candidates) || candidates < 1)
      throw invalidInput(`the ${candidates} highest logits were asked for, and a number above 0 is possible`);
    if (!Number.isSafeInteger(logits) || logits < 0 || logits > tokens.length)
      throw invalidInput(`logits of ${logits} positions of ${tokens.length} tokens were asked for`);
  }
}

/** Throws INPUT_INVALID unless there is at least one token, and all are ids of the vocabulary. */
export function checkTokens(tokens: readonly number[], vocabulary: number): void {
  const invalid = tokens.find((token) => !Number.isSafeInteger(token) || token < 0 || token >= vocabulary);
  if (invalid === undefined && tokens.length > 0) return;
  throw invalidInput(
    invalid === undefined ? "there are no tokens" : `${invalid} is not a token id`,
    `give at least one token id, each from 0 to ${vocabulary - 1}`,
  );
}

/** Throws INPUT_INVALID unless a sequence of `tokens` tokens can be cut to `length`. */
export function checkTruncation(tokens: number, length: number): void {
  if (Number.isSafeInteger(length) && length >= 0 && length <= tokens) return;
  throw invalidInput(`the sequence holds ${tokens} tokens and cannot be truncated to ${length}`);
}

/** Throws INPUT_TOO_LONG for a sequence of `tokens` tokens beyond the context length, if there is one. */
export function checkLength(tokens: number, contextLength: number | undefined): void {
  if (contextLength === undefined || tokens <= contextLength) return;
  const message = `the sequence would have ${tokens} tokens, and the model's context is ${contextLength}`;
  throw new InferyardError("INPUT_TOO_LONG", message, {
    remedy: "shorten the text, or ask for fewer new tokens",
    data: { tokens, contextLength },
  });
}

/** Throws INPUT_INVALID unless a source is given to a model with an encoder, and to no other: features of the right shape, or tokens. */
export function checkSourceKind(
  { source, features }: Pick<SequenceOptions, "source" | "features">,
  { hasEncoder, features: shape }: Pick<LanguageModelLimits, "hasEncoder" | "features">,
): void {
  if (shape === undefined && features !== undefined)
    throw new InferyardError("INPUT_INVALID", "this model has no encoder of features", { remedy: "give tokens" });
  if (shape !== undefined) {
    if (source === undefined && features?.length === shape.bins * shape.frames) return;
    const given = features === undefined ? "no features" : `${features.length} numbers`;
    throw new InferyardError(
      "INPUT_INVALID",
      `a sequence of this model needs features [${shape.bins}, ${shape.frames}], and there are ${source === undefined ? given : "tokens of a text"}`,
    );
  }
  if (hasEncoder === (source !== undefined)) return;
  throw invalidInput(
    hasEncoder
      ? "a sequence of this model needs a source text"
      : "this model has no encoder, so there is nothing to read a source text",
  );
}
