/** Whether two models give the same meaning to each token id. */
import { invalidInput } from "../../../contract/errors.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import type { DecodingModel } from "../decode-scheduler.ts";

/** Facts about a model's tokens for the comparison. */
export interface TokensOfModel {
  readonly limits: DecodingModel["limits"];
  /** The model's tokenizer; undefined if it has none: its tokens are then compared by number only. */
  readonly tokenizer: Tokenizer | undefined;
}

/** Throws INPUT_INVALID unless both models have the same tokens and neither has an encoder. */
export function requireSameTokens(draft: TokensOfModel, model: TokensOfModel): void {
  if (draft.limits.hasEncoder || model.limits.hasEncoder) {
    throw invalidInput("a draft model is given, and models with an encoder have none", "leave draftModel out");
  }
  const difference = firstDifference(draft, model);
  if (difference === undefined) return;
  throw invalidInput(
    `the draft model has other tokens than the model: ${difference}`,
    "use a smaller model of the same family, with the same tokenizer",
  );
}

function firstDifference(draft: TokensOfModel, model: TokensOfModel): string | undefined {
  const [ours, theirs] = [draft.tokenizer, model.tokenizer];
  if (ours === undefined || theirs === undefined) {
    const [size, other] = [draft.limits.vocabulary, model.limits.vocabulary];
    return size === other ? undefined : `it has ${size} of them, and the model ${other}`;
  }
  const different = firstTokenDifference(ours, theirs, Math.min(draft.limits.vocabulary, model.limits.vocabulary));
  return different && `${different} of the model`;
}

/** The first of `size` ids that is a different token in the other tokenizer: "token 7 is "a", and "b"". Undefined if there is none. */
export function firstTokenDifference(ours: Tokenizer, theirs: Tokenizer, size: number): string | undefined {
  for (let id = 0; id < size; id += 1) {
    const [token, other] = [ours.idToToken(id), theirs.idToToken(id)];
    if (token !== other) return `token ${id} is ${JSON.stringify(token)}, and ${JSON.stringify(other)}`;
  }
  return undefined;
}
