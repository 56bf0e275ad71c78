/** What is known of a text that is being generated, and of one that was. */
import type { DraftCounts } from "./speculation/speculation.ts";
import type { TokenLogprob } from "./sampling/log-probabilities.ts";

/** Why a text ended: it came to an end token or a stop string, or to the greatest length. */
export type FinishReason = "stop" | "length";

/** One generated token with its log probability by the model's own logits. */
export interface GeneratedLogprob extends TokenLogprob {
  /** The most probable tokens at its position, best first. */
  readonly top: readonly TokenLogprob[];
}

/** One token of a prompt. */
export interface PromptLogprob extends Omit<GeneratedLogprob, "logprob"> {
  /** Null for the first token, which nothing precedes. */
  readonly logprob: number | null;
}

/** Times of one text, in milliseconds. */
export interface GenerationTimings {
  /** From the call to the first token, waiting for other texts included. */
  readonly firstTokenMs: number;
  /** From the call to the last token. */
  readonly totalMs: number;
}

/** One generated text. */
export interface GeneratedText {
  /** The text, without the prompt, the stop string and the end token. Empty for a model without a tokenizer. */
  readonly text: string;
  /** The generated tokens; the last is the end token if there is one. */
  readonly tokens: readonly number[];
  readonly finishReason: FinishReason;
  /** Cause of the end of the text: the stop string, or the id of the end token. Absent for the finish reason "length". */
  readonly stop?: string | number;
  /** For each token its log probability. Present if `logprobs` was requested. */
  readonly logprobs?: readonly GeneratedLogprob[];
  /** For each token of the prompt its log probability. Present if `promptLogprobs` was requested. */
  readonly promptLogprobs?: readonly PromptLogprob[];
  /** Number of tokens of the prompt; for models with an encoder of the source text. */
  readonly promptTokens: number;
  /** Number of leading tokens of the prompt that were computed for an earlier text. */
  readonly cachedTokens: number;
  /** Seed of the random numbers. Present if tokens were drawn at random. */
  readonly seed?: number;
  /** Numbers of tokens that prompt look-up tried and that were kept. Present if `promptLookup` is above 0. */
  readonly promptLookup?: DraftCounts;
  /** Numbers of tokens that the draft model drafted and that were kept. Present if there is a `draftModel`. */
  readonly draftModel?: DraftCounts;
  readonly timings: GenerationTimings;
}

/** One token of a text, with the text that it completes. */
export interface TextEvent {
  readonly type: "text";
  /** Position of the text in the results. */
  readonly index: number;
  /** Text that is known with this token; may be empty, since a character can be several tokens. */
  readonly text: string;
  readonly token: number;
  /** Present if `logprobs` was requested. */
  readonly logprob?: GeneratedLogprob;
  /** Log probabilities of the prompt, with the first token of a text. Present if they were requested. */
  readonly promptLogprobs?: readonly PromptLogprob[];
}

/** The end of a text. */
export interface FinishEvent {
  readonly type: "finish";
  /** Position of the text in the results. */
  readonly index: number;
  /** The rest of the text, which was held back since it might have become a stop string. */
  readonly text: string;
  readonly result: GeneratedText;
}

/** One event of a stream: a token of a text, or the end of a text. */
export type GenerationEvent = TextEvent | FinishEvent;

/** Receives the events of a text. Its returned promise is awaited before the next token is computed, so that a slow reader slows its text. */
export type EmitEvent = (event: GenerationEvent) => Promise<void>;
