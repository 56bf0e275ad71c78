/** WordLevel: every piece is one token. */
import type { Model, PieceTokens } from "./model.ts";
import { type ModelJson, modelText, vocabularyOf } from "./vocabulary.ts";

export class WordLevelModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number | undefined;
  readonly showsUnknownText: boolean = false;

  constructor(model: ModelJson) {
    this.vocabulary = vocabularyOf(model);
    this.unknownId = this.vocabulary.get(modelText(model, "unk_token") ?? "<unk>");
  }

  tokenize(piece: string): PieceTokens {
    const id = this.vocabulary.get(piece) ?? this.unknownId;
    if (id === undefined) throw new Error("has no id for a token it made, and no unknown token");
    return [id, 0, piece.length];
  }
}
