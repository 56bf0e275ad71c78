/** Options of the task `question-answering`. */
import { type OffsetUnit, offsetUnits } from "../../tokenizers/index.ts";
import { type OptionTable, boolean, choice, positiveInteger } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions } from "../definition/task-options.ts";

/** Options of `Runtime.answer`. */
export interface AnswerOptions extends TextTaskOptions {
  /** Number of answers returned per context, best first. Default: 1. */
  readonly topK?: number;
  /** Maximum length of an answer in tokens. Default: 15. */
  readonly maxAnswerTokens?: number;
  /** Include "no answer" (an empty text) as a candidate, for models trained on unanswerable questions (SQuAD 2.0). Default: false. */
  readonly noAnswer?: boolean;
  /** Extend answers to the boundaries of the tokenizer's words; false: to the boundaries of tokens. Default: true. */
  readonly alignToWords?: boolean;
  /** Overlap in tokens of the windows that a context longer than the model's limit is read in. Default: a quarter of a window. */
  readonly stride?: number;
  /** Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: OffsetUnit;
}

/** All options of `answer`. Any other name is refused. */
export const answerOptions: OptionTable<AnswerOptions> = {
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "answers of each text, best first"],
    field: "Number of answers in each context, best first. Default: 1",
  },
  maxAnswerTokens: {
    type: positiveInteger,
    flag: ["--max-answer-tokens <number>", "longest answer in tokens"],
    field: "Maximum length of an answer in tokens. Default: 15",
  },
  noAnswer: {
    type: boolean,
    flag: ["--no-answer", 'allow "no answer"'],
    field: "Include no answer, an empty text, as a candidate. Default: false",
  },
  alignToWords: {
    type: boolean,
    negatedFlag: ["--no-align-to-words", "align answers with tokens instead of words"],
    field: "Extend answers to whole words. Default: true",
  },
  offsets: {
    type: choice(offsetUnits),
    flag: ["--offsets <unit>", "unit of positions"],
    field: "Unit of `start` and `end`. Default: utf16",
  },
  stride: { type: positiveInteger, flag: ["--stride <tokens>", "tokens by which windows of long texts overlap"] },
  ...textTaskOptions,
};
