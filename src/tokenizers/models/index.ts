/** Models (pieces of text to tokens), by their `type` in tokenizer.json. */
import { BpeModel } from "./bpe.ts";
import type { Model } from "./model.ts";
import { UnigramModel } from "./unigram.ts";
import { type ModelJson, stringOption } from "./vocabulary.ts";
import { WordLevelModel } from "./word-level.ts";
import { WordPieceModel } from "./word-piece.ts";

export type { Model } from "./model.ts";

/** `inBytes`: pieces are text, and the model maps characters to bytes itself. Only BPE supports it. */
const kinds: Readonly<Record<string, (model: ModelJson, inBytes: boolean) => Model>> = {
  BPE: (model, inBytes) => new BpeModel(model, inBytes),
  Unigram: (model) => new UnigramModel(model),
  WordLevel: (model) => new WordLevelModel(model),
  WordPiece: (model) => new WordPieceModel(model),
};

/**
 * Creates the tokenization model that `model` of tokenizer.json describes. `inBytes` applies to BPE only: see `BpeModel`. Throws
 * Error for an unknown `type` or an invalid setting.
 */
export function createModel(model: ModelJson, inBytes: boolean): Model {
  const type = modelType(model);
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (kind === undefined) throw new Error(`the model ${JSON.stringify(type)} is not known`);
  return kind(model, inBytes);
}

/** The `type` of the model of a tokenizer.json. Older files have none; it is then inferred from the fields. */
export function modelType(model: ModelJson): string {
  const type = stringOption(model, "type");
  if (type !== undefined) return type;
  if (Array.isArray(model["vocab"])) return "Unigram";
  if ("merges" in model) return "BPE";
  return "continuing_subword_prefix" in model ? "WordPiece" : "WordLevel";
}
