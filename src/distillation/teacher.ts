/** The interface of the model that is distilled. */

/** Options of a call of a distillation's teacher. */
export interface TeacherCallOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of inputs that are done, and of all inputs. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The teacher of a distillation: an embedding model with its tokenizer. */
export interface Teacher {
  /** The reference as the user wrote it, for messages and the config.json of the new model. */
  readonly reference: string;
  /** The token of each id; "" for an id without a token. */
  readonly vocabulary: readonly string[];
  /** Id of the unknown token, which is removed from texts. Absent if there is none. */
  readonly unknownTokenId?: number;
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Absolute path of tokenizer.json. */
  readonly tokenizerPath: string;

  /** Token ids of a text, without special tokens and not truncated. */
  tokenize(text: string): readonly number[];

  /**
   * The pooled vector of each sequence of token ids, not normalized, in the same order. The sequences have no special tokens; the teacher adds its own.
   */
  embedTokenIds(batch: readonly (readonly number[])[], options: TeacherCallOptions): Promise<readonly Float32Array[]>;

  /** The vector of each text, in the same order, as users of the model get it: normalized if the model normalizes. */
  embedTexts(texts: readonly string[], options: TeacherCallOptions): Promise<readonly Float32Array[]>;
}
