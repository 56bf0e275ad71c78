/** What the strategies that run a model ask of it. */

/** Vectors of texts, in order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

export interface ChunkModel {
  /** Strategy "semantic". */
  readonly embedTexts: EmbedTexts;
  /** Strategy "token-classification": where the model sees something end, in UTF-16 units and in order. */
  ends(text: string): Promise<readonly number[]>;
  /** Strategy "late": vectors of stretches of the text, each made with the whole text in sight. */
  embedSpans(text: string, spans: readonly TextSpan[]): Promise<Float32Array[]>;
}

/** [start, end) in UTF-16 units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}
