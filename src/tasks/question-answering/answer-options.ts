/** Options of the task `question-answering`. */
import { type OptionTable, boolean, positiveInteger } from "../../runtime/options/option.ts";
import { textTaskOptions, positionsUnit, unitDescription, windowStride } from "../definition/task-options.ts";
import type { AnswerOptions } from "./generated-answer-options.ts";

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
    field:
      'Include "no answer" (an empty text) as a candidate, for models trained on unanswerable questions (SQuAD 2.0). Default: false',
  },
  alignToWords: {
    type: boolean,
    negatedFlag: ["--no-align-to-words", "align answers with tokens instead of words"],
    field: "Extend answers to the boundaries of the tokenizer's words; false: to the boundaries of tokens. Default: true",
  },
  offsets: { ...positionsUnit, field: unitDescription },
  stride: { ...windowStride, type: positiveInteger },
  ...textTaskOptions,
};
