/** `WordLevel` of the Rust library: a piece is looked up in the vocabulary as a whole. */
import type { Model, PieceTokens } from "./model.ts";
import { type ModelJson, stringOption, readVocabulary } from "./vocabulary.ts";

/** Word-level model, in which every piece is one token, with the settings of tokenizer.json. */
export class WordLevelModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number | undefined;
  readonly keepsUnknownText: boolean = false;

  constructor(model: ModelJson) {
    this.vocabulary = readVocabulary(model);
    this.unknownId = this.vocabulary.get(stringOption(model, "unk_token") ?? "<unk>");
  }

  tokenize(piece: string): PieceTokens {
    const id = this.vocabulary.get(piece) ?? this.unknownId;
    if (id === undefined) throw new Error("has no id for a token it made, and no unknown token");
    return [id, 0, piece.length];
  }
}
