/** The part of the contract in `backend.ts` that concerns language models. */
import type { ModelFiles } from "./model-files.ts";
import type { ModelBase } from "./tensor-model.ts";

/**
 * A model that predicts the next token of sequences of tokens, and keeps a cache for each sequence. Choosing tokens from the logits is not its work.
 *
 * Calls may overlap; each call returns what it would return alone. A call that fails or is aborted leaves every sequence as it was. All members throw
 * INPUT_INVALID for a sequence that does not exist, and DISPOSED after disposal.
 */
export interface LanguageModel extends ModelBase {
  readonly kind: "language";
  readonly limits: LanguageModelLimits;

  /** Creates an empty sequence. `source` or `features`: what the encoder reads; for models with an encoder, and only for these. */
  createSequence(options?: SequenceOptions): Promise<SequenceId>;

  /**
   * Appends tokens to sequences, and returns for each step the logits of its last positions: [step.logits, limits.vocabulary], row by row. Several sequences in
   * one call are computed together if the engine can; the result of each is independent of the others. Throws INPUT_INVALID for token ids outside of the
   * vocabulary and for a sequence named twice, and INPUT_TOO_LONG beyond the context length.
   */
  decode(steps: readonly DecodeStep[], options?: DecodeOptions): Promise<readonly Float32Array[]>;

  /** Creates a sequence with the same tokens and cache. Tokens appended to one do not change the other. */
  forkSequence(sequence: SequenceId): Promise<SequenceId>;

  /** Removes all tokens from position `length` on. Throws INPUT_INVALID if the sequence is shorter. */
  truncateSequence(sequence: SequenceId, length: number): Promise<void>;

  /**
   * The sequence's cache as bytes, for `restoreSequence` of the same model with the same backend and version. Default: a sequence is restored by computing its
   * tokens again.
   */
  saveSequence?(sequence: SequenceId): Promise<Uint8Array>;

  /** Creates a sequence from the bytes of `saveSequence`. It continues as the saved one. Throws INPUT_INVALID for bytes of another model or version. */
  restoreSequence?(bytes: Uint8Array): Promise<SequenceId>;

  /**
   * The weights of the cross-attention of some heads, float32 [heads, tokens, positions of the encoder's output]: how much each of `tokens` reads of each
   * position of the sequence's source. The tokens are read from the beginning, and the sequence stays as it is. Throws INPUT_INVALID for heads that the model
   * does not have. Default: the weights are not known.
   */
  crossAttention?(
    sequence: SequenceId,
    tokens: readonly number[],
    heads: readonly AttentionHead[],
    options?: DecodeOptions,
  ): Promise<Float32Array>;

  /** Frees the sequence's cache. */
  releaseSequence(sequence: SequenceId): Promise<void>;
}

/** Identifies a sequence of one loaded model. */
export type SequenceId = number;

/** Abilities and limits of a language model. */
export interface LanguageModelLimits {
  /** Number of logits of each position. May exceed the number of tokens that the tokenizer knows. */
  readonly vocabulary: number;
  /** Maximum number of tokens of a sequence. Undefined if the model states none. */
  readonly contextLength?: number;
  /** Bytes of cache of one token of a sequence. */
  readonly cacheBytesPerToken: number;
  /** Whether each sequence begins with a source that an encoder reads: tokens, or features. */
  readonly hasEncoder: boolean;
  /** Shape of the features that the encoder reads in place of tokens, such as a log-mel spectrogram. Default: it reads tokens, or there is none. */
  readonly features?: FeatureShape;
}

/**
 * Shape of the features of one source: `frames` steps in time of `bins` numbers. Of a picture, `bins` are the rows of all channels, one channel below the other, and
 * `frames` the columns.
 */
export interface FeatureShape {
  readonly bins: number;
  readonly frames: number;
}

/** A head of the decoder's cross-attention: indices of its layer and of itself. */
export type AttentionHead = readonly [layer: number, head: number];

/** Options of a new sequence. */
export interface SequenceOptions {
  /** Tokens that the encoder reads, at least one. */
  readonly source?: readonly number[];
  /** Features that the encoder reads, [bins, frames] row by row. For models with `limits.features`, and only for these. */
  readonly features?: Float32Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

/** Tokens to append to one sequence. */
export interface DecodeStep {
  readonly sequence: SequenceId;
  /** Token ids, at least one. */
  readonly tokens: readonly number[];
  /** Number of last positions whose logits are returned, at most the number of `tokens`. Default: 1. */
  readonly logits?: number;
  /**
   * Number of highest logits of each position that are needed. The model may return -Infinity for all others, which saves engines that sort or copy their logits
   * most of the work. Default: all are needed.
   */
  readonly candidates?: number;
}

/** Options of `LanguageModel.decode`. */
export interface DecodeOptions {
  /** If aborted, `decode` throws ABORTED as soon as the engine can stop. */
  readonly signal?: AbortSignal;
}

/** The files of one variant of a language model. `path` is its decoder, or the file that holds all of it. */
export interface LanguageModelFiles extends ModelFiles {
  /** A decoder in a file of its own for all tokens after the first call, as some exporters write it. */
  readonly decoderWithPast?: string;
  /** The encoder, if it is a file of its own. */
  readonly encoder?: string;
}
