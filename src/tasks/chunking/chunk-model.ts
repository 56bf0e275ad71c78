/** Interface of the model that the strategies "semantic", "token-classification" and "late" run. */

/** Embeds texts: one vector per text, in order. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** A model as chunking uses it. */
export interface ChunkModel {
  /** For the strategy "semantic". */
  readonly embedTexts: EmbedTexts;
  /** For the strategy "token-classification": ends of the labelled spans of a text, in UTF-16 code units, ascending. */
  labelledEnds(text: string): Promise<readonly number[]>;
  /** For the strategy "late": one vector per span, computed from the whole text. */
  embedSpans(text: string, spans: readonly TextSpan[]): Promise<Float32Array[]>;
}

/** A range of a text in UTF-16 code units: start included, end excluded. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}
