/** Options of tasks that generate text. */
import {
  type OptionTable,
  boolean,
  number,
  positiveInteger,
  strings,
  unchecked,
  zeroOrMore,
} from "../../../runtime/options/option.ts";
import type { GenerationOptions } from "./generated-generation-options.ts";

/** Everything about the options in `GenerationOptions`. */
export const generationOptions: OptionTable<GenerationOptions> = {
  maxNewTokens: {
    type: zeroOrMore,
    description:
      "Maximum number of tokens to generate for each text; 0: none, for `promptLogprobs` alone. Default: as the model's files say, otherwise 256",
    flag: ["--max-new-tokens <number>", "longest answer in tokens"],
    field: "Tokens to generate at most; 0: none. Default: 256, or as the model's files say",
  },
  minNewTokens: {
    type: zeroOrMore,
    flag: ["--min-new-tokens <number>", "tokens before which a text does not end"],
    field: "Tokens before which a text does not end. Default: 0",
  },
  doSample: {
    type: boolean,
    description:
      "Whether tokens are drawn at random by their probabilities. Default: true if one of `temperature` (above 0), `topK`, `topP`, `minP`, `typicalP` is given, otherwise as the model's files say, otherwise false: the most probable token is chosen",
    flag: ["--do-sample", "draw tokens at random by their probabilities"],
    negatedFlag: ["--no-do-sample", "choose the most probable token"],
    field: "Whether tokens are drawn at random. Default: if a setting of sampling is given, or as the model's files say",
  },
  temperature: {
    type: { kind: "number", min: 0, max: 100 },
    flag: ["--temperature <number>", "divides the logits; 0: the most probable token"],
    field: "Divides the logits: below 1 probable tokens become more probable. 0: the most probable token is chosen. Default: 1",
  },
  topK: {
    type: zeroOrMore,
    flag: ["--top-k <number>", "draw among this many most probable tokens"],
    field: "Draw among this many most probable tokens; 0: all. Default: 0",
  },
  topP: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--top-p <number>", "draw among the most probable tokens that reach this probability"],
    field: "Draw among the most probable tokens that reach this probability together, above 0 and at most 1. Default: 1",
  },
  minP: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--min-p <number>", "draw among tokens with this share of the highest probability"],
    field: "Draw among tokens with at least this share of the highest probability, from 0 to 1. Default: 0",
  },
  typicalP: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--typical-p <number>", "probability that typical tokens reach together"],
    field:
      "Draw among the tokens nearest to the expected information that reach this probability together (locally typical sampling). Default: 1",
  },
  seed: {
    type: zeroOrMore,
    flag: ["--seed <number>", "seed of the random numbers"],
    field:
      "Seed of the random numbers: the same one gives the same text. A whole number from 0. Default: a random one, which the result states",
  },
  repetitionPenalty: {
    type: number,
    flag: ["--repetition-penalty <number>", "above 1: tokens that occur become less probable"],
    field: "Above 1: tokens that occur, in the prompt too, become less probable. Default: 1",
  },
  frequencyPenalty: {
    type: number,
    flag: ["--frequency-penalty <number>", "subtracted for each time a token was generated"],
    field: "Subtracted from the logit of a token for each time it was generated. Default: 0",
  },
  presencePenalty: {
    type: number,
    flag: ["--presence-penalty <number>", "subtracted if a token was generated"],
    field: "Subtracted from the logits of tokens that were generated. Default: 0",
  },
  noRepeatNgramSize: {
    type: zeroOrMore,
    flag: ["--forbid-repeated-ngrams <number>", "no sequence of this many tokens occurs twice"],
    field: "No sequence of this many tokens occurs twice, the prompt included; 0: no limit. Default: 0",
  },
  logitBias: {
    type: unchecked,
    typescript: "Readonly<Record<number, number>>",
    description: "Values added to the logits of tokens, by token id: -100 excludes a token, 100 all other tokens. Default: none",
  },
  badWords: {
    type: strings,
    flag: ["--bad-word <text>", "a text that is not generated; may be given again"],
    field:
      "Texts that are not generated; each is banned as the tokens that it is made of, with and without a space before it. Default: none",
  },
  suppressTokens: {
    type: unchecked,
    typescript: "readonly number[]",
    description: "Tokens that are not generated. Default: none",
  },
  stop: {
    type: strings,
    typescript: "string | readonly string[]",
    flag: ["--stop <text>", "end before this text; may be given again"],
    field: "A text ends before the first of these strings, wherever tokens begin and end. Default: none",
  },
  stopTokens: {
    type: unchecked,
    typescript: "readonly number[]",
    description: "Tokens that end a text, in addition to the model's. Default: none",
  },
  ignoreEndTokens: {
    type: boolean,
    flag: ["--ignore-end-tokens", "do not end at the model's end tokens"],
    field: "Whether the model's own end tokens do not end a text. Default: false",
  },
  n: { type: positiveInteger, flag: ["-n, --n <number>", "texts for each prompt"], field: "Texts for each prompt. Default: 1" },
  numBeams: {
    type: positiveInteger,
    flag: ["--num-beams <number>", "beams of beam search"],
    field: "Number of beams of beam search. Default: 1",
  },
  lengthPenalty: {
    type: number,
    flag: ["--length-penalty <number>", "with beams: above 0 prefers longer texts"],
    field: "With beams: exponent of the length by which scores are divided; above 0 prefers longer texts. Default: 1",
  },
  earlyStopping: {
    type: unchecked,
    typescript: 'boolean | "never"',
    description:
      'With beams: whether the search ends as soon as there are `numBeams` texts; "never": only when no better one is possible. Default: false',
  },
  logprobs: {
    type: zeroOrMore,
    field:
      "Whether each token is given with its log probability, and this many most probable alternatives; 0: no alternatives. Default: neither",
  },
  promptLogprobs: {
    type: zeroOrMore,
    field:
      "Number of most probable alternatives to return for each token of the prompt, together with its own log probability; 0: no alternatives. The whole prompt is then computed, including a prefix shared with earlier prompts. Not for models with an encoder. Default: no log probabilities",
  },
  promptLookup: {
    type: zeroOrMore,
    flag: ["--prompt-lookup <number>", "tokens copied from the text before and checked at once"],
    field:
      "Prompt look-up: if the last tokens occurred earlier in the text or the prompt, the model reads up to this many of the tokens that followed them in one call, and they are kept as long as it chooses the same ones. The text does not change; quotations, code and corrections are generated faster. 0: none. Default: 0",
  },
  draftTokens: {
    type: positiveInteger,
    description:
      "Tokens that the draft model (`draftModel`) drafts before the model reads them in one call, at most. Only with a draft model. Default: 4",
    flag: ["--draft-tokens <number>", "with --draft-model: tokens that it drafts at once, at most"],
  },
  constraint: {
    type: unchecked,
    typescript: "TextConstraint",
    description:
      "Constraint on the text: JSON, JSON by a schema, a regular expression, one of several texts, a grammar. Default: none",
  },
  unlistedMembers: {
    type: boolean,
    description:
      "Whether objects by a JSON schema, and arguments of tools, may have members that the schema does not list, as the specification allows where `additionalProperties` is left out. Default: as the runtime's settings say, otherwise false",
    flag: ["--unlisted-members", "with a schema: members that it does not list are written too"],
    negatedFlag: ["--no-unlisted-members", "with a schema: only members that it lists are written"],
    field:
      "Whether objects by a JSON schema, and arguments of tools, may have members that the schema does not list. Default: false",
  },
  skipSpecialTokens: {
    type: boolean,
    negatedFlag: ["--no-skip-special-tokens", "keep special tokens in the text"],
    field: "Whether special tokens are left out of the text. Default: true",
  },
  signal: { type: unchecked, typescript: "AbortSignal", description: "Cancels the call, which then rejects with ABORTED" },
};
