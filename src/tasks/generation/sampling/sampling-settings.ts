/** How tokens are chosen from logits: every setting with its value. */

/** Settings of the choice of tokens, after merging the settings of the model and of the request. */
export interface SamplingSettings {
  /** false: the token with the highest logit is chosen; of equal ones that with the lowest id. */
  readonly doSample: boolean;
  /** Divides the logits. Above 0. */
  readonly temperature: number;
  /** Number of tokens with the highest logits that remain; 0: all. */
  readonly topK: number;
  /** Smallest set of most probable tokens whose probability reaches this (Holtzman et al. 2019); 1: all. */
  readonly topP: number;
  /** Tokens below this share of the highest probability are removed; 0: none. */
  readonly minP: number;
  /** Locally typical sampling (Meister et al. 2022): the tokens nearest to the expected information whose probability reaches this; 1: all. */
  readonly typicalP: number;
  /** Divides the positive logits of tokens that occur, and multiplies the negative ones (Keskar et al. 2019); 1: no change. */
  readonly repetitionPenalty: number;
  /** Subtracted from a logit for each time its token was generated. */
  readonly frequencyPenalty: number;
  /** Subtracted from a logit if its token was generated. */
  readonly presencePenalty: number;
  /** No sequence of this many tokens occurs twice; 0: no limit. */
  readonly noRepeatNgramSize: number;
  /** No sequence of this many tokens of the encoder's input occurs; 0: no limit. */
  readonly encoderNoRepeatNgramSize: number;
  /** Value added to the logit of the last token of each sequence if its other tokens precede. */
  readonly sequenceBias: readonly SequenceBias[];
  /** Sequences of tokens that do not occur. */
  readonly badWords: readonly (readonly number[])[];
  /** Tokens that do not occur. */
  readonly suppressTokens: readonly number[];
  /** Tokens that are not the first generated ones. */
  readonly beginSuppressTokens: readonly number[];
  /** The first token after one token of the decoder. */
  readonly forcedFirstToken?: number;
  /** The last token of a text of `maxLength` tokens, any of these. */
  readonly forcedEndTokens: readonly number[];
  /** Tokens of the decoder, the prompt included, before which no end token is chosen. */
  readonly minLength: number;
  /** Generated tokens before which no end token is chosen. */
  readonly minNewTokens: number;
  /** Tokens of the decoder at most, the prompt included. */
  readonly maxLength: number;
  /** Tokens that end a text. */
  readonly endTokens: readonly number[];
}

/** A bias of the last of `tokens`, where the others precede it. */
export interface SequenceBias {
  readonly tokens: readonly number[];
  readonly bias: number;
}

/** State of a text besides the logits of its next token. */
export interface TextSoFar {
  /** The decoder's tokens: the prompt's and the generated ones. */
  readonly tokens: readonly number[];
  /** Number of leading `tokens` that are the prompt. */
  readonly promptLength: number;
  /** The encoder's tokens; empty for models without one. */
  readonly source: readonly number[];
}
