/** The model that is imitated, as distillation sees it. */

export interface TeacherCallOptions {
  readonly signal?: AbortSignal;
  /** Texts done of all texts given. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** An embedding model with its tokenizer. */
export interface Teacher {
  /** As the user wrote it; for messages and the new model's config.json. */
  readonly reference: string;
  /** The token of each id; an empty string where an id has none. */
  readonly vocabulary: readonly string[];
  /** The token that stands for everything the vocabulary lacks; such tokens are dropped. Left out: there is none. */
  readonly unknownTokenId?: number;
  readonly dimensions: number;
  /** Absolute path of tokenizer.json. */
  readonly tokenizerPath: string;

  /** Token ids of a text, without special tokens, not cut. */
  tokenize(text: string): readonly number[];

  /**
   * The pooled vector of each sequence of token ids, not normalized, in the order given. The ids come without special tokens; the
   * teacher puts its own around each.
   */
  embedTokenIds(batch: readonly (readonly number[])[], options: TeacherCallOptions): Promise<readonly Float32Array[]>;

  /** The vector of each text as the model's users get it, in the order given; normalized or not. */
  embedTexts(texts: readonly string[], options: TeacherCallOptions): Promise<readonly Float32Array[]>;
}
