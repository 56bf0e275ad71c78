/** Written by `npm run schemas`; the table of options is the source. */
import type { TextConstraint } from "./constraints/text-constraint.ts";

/** Options of `generate`. */
export interface GenerateOptions {
  /** Maximum number of tokens to generate for each text; 0: none, for `promptLogprobs` alone. Default: as the model's files say, otherwise 256. */
  readonly maxNewTokens?: number;
  /** Tokens before which a text does not end. Default: 0. */
  readonly minNewTokens?: number;
  /** Whether tokens are drawn at random by their probabilities. Default: true if one of `temperature` (above 0), `topK`, `topP`, `minP`, `typicalP` is given, otherwise as the model's files say, otherwise false: the most probable token is chosen. */
  readonly doSample?: boolean;
  /** Divides the logits: below 1 probable tokens become more probable. 0: the most probable token is chosen. Default: 1. */
  readonly temperature?: number;
  /** Draw among this many most probable tokens; 0: all. Default: 0. */
  readonly topK?: number;
  /** Draw among the most probable tokens that reach this probability together, above 0 and at most 1. Default: 1. */
  readonly topP?: number;
  /** Draw among tokens with at least this share of the highest probability, from 0 to 1. Default: 0. */
  readonly minP?: number;
  /** Draw among the tokens nearest to the expected information that reach this probability together (locally typical sampling). Default: 1. */
  readonly typicalP?: number;
  /** Seed of the random numbers: the same one gives the same text. A whole number from 0. Default: a random one, which the result states. */
  readonly seed?: number;
  /** Above 1: tokens that occur, in the prompt too, become less probable. Default: 1. */
  readonly repetitionPenalty?: number;
  /** Subtracted from the logit of a token for each time it was generated. Default: 0. */
  readonly frequencyPenalty?: number;
  /** Subtracted from the logits of tokens that were generated. Default: 0. */
  readonly presencePenalty?: number;
  /** No sequence of this many tokens occurs twice, the prompt included; 0: no limit. Default: 0. */
  readonly noRepeatNgramSize?: number;
  /** Values added to the logits of tokens, by token id: -100 excludes a token, 100 all other tokens. Default: none. */
  readonly logitBias?: Readonly<Record<number, number>>;
  /** Texts that are not generated; each is banned as the tokens that it is made of, with and without a space before it. Default: none. */
  readonly badWords?: readonly string[];
  /** Tokens that are not generated. Default: none. */
  readonly suppressTokens?: readonly number[];
  /** A text ends before the first of these strings, wherever tokens begin and end. Default: none. */
  readonly stop?: string | readonly string[];
  /** Tokens that end a text, in addition to the model's. Default: none. */
  readonly stopTokens?: readonly number[];
  /** Whether the model's own end tokens do not end a text. Default: false. */
  readonly ignoreEndTokens?: boolean;
  /** Texts for each prompt. Default: 1. */
  readonly n?: number;
  /** Number of beams of beam search. Default: 1. */
  readonly numBeams?: number;
  /** With beams: exponent of the length by which scores are divided; above 0 prefers longer texts. Default: 1. */
  readonly lengthPenalty?: number;
  /** With beams: whether the search ends as soon as there are `numBeams` texts; "never": only when no better one is possible. Default: false. */
  readonly earlyStopping?: boolean | "never";
  /** Whether each token is given with its log probability, and this many most probable alternatives; 0: no alternatives. Default: neither. */
  readonly logprobs?: number;
  /** Number of most probable alternatives to return for each token of the prompt, together with its own log probability; 0: no alternatives. The whole prompt is then computed, including a prefix shared with earlier prompts. Not for models with an encoder. Default: no log probabilities. */
  readonly promptLogprobs?: number;
  /** Prompt look-up: if the last tokens occurred earlier in the text or the prompt, the model reads up to this many of the tokens that followed them in one call, and they are kept as long as it chooses the same ones. The text does not change; quotations, code and corrections are generated faster. 0: none. Default: 0. */
  readonly promptLookup?: number;
  /** Tokens that the draft model (`draftModel`) drafts before the model reads them in one call, at most. Only with a draft model. Default: 4. */
  readonly draftTokens?: number;
  /** Constraint on the text: JSON, JSON by a schema, a regular expression, one of several texts, a grammar. Default: none. */
  readonly constraint?: TextConstraint;
  /** Whether objects by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows where `additionalProperties` is left out. Default: as the runtime's settings say, otherwise false. */
  readonly unlistedMembers?: boolean;
  /** Whether special tokens are left out of the text. Default: true. */
  readonly skipSpecialTokens?: boolean;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
  /** Whether the tokenizer adds its special tokens to prompts that are texts. Default: as the model was trained. */
  readonly addSpecialTokens?: boolean;
  /** Text that follows the generated one: the model fills in between the prompt and this. Only for models with tokens for filling in the middle. Default: none. */
  readonly suffix?: string;
  /** Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the texts. */
  readonly stream?: boolean;
}
