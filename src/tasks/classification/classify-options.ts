/** Options of the tasks `text-classification` and `zero-shot-classification`. */
import { headActivations } from "../encoding/label-head.ts";
import { type OptionTable, boolean, choice, positiveInteger, textOption, listOption } from "../../runtime/options/option.ts";
import { textTaskOptions, truncateWithField } from "../definition/task-options.ts";
import type { ClassifyOptions } from "./generated-classify-options.ts";

/** All options of `classify`. Any other name is refused. */
export const classifyOptions: OptionTable<ClassifyOptions> = {
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "labels of each text, best first"],
    field: "Number of labels returned per text, best first. Default: all",
  },
  labels: {
    type: listOption,
    flag: ["--labels <labels>", "candidate labels, for a natural-language-inference model"],
    field:
      "Candidate labels, for zero-shot classification with a natural-language-inference model. Default: the model's own labels",
  },
  hypothesisTemplate: {
    type: textOption,
    flag: ["--template <sentence>", "with --labels: hypothesis in which {} stands for the label"],
    field: 'With `labels`: hypothesis to test, in which {} is replaced by the label. Default: "This example is {}."',
  },
  multiLabel: {
    type: boolean,
    flag: ["--multi-label", "with --labels: score each label independently"],
    field: "With `labels`: true scores each label independently, false normalizes the scores to sum 1. Default: false",
  },
  activation: {
    type: choice(headActivations),
    description: "Function from logits to scores. Default: from config.json (`problem_type`, else the number of labels)",
    flag: ["--activation <how>", "activation function, instead of the model's own"],
  },
  ...textTaskOptions,
  truncate: truncateWithField,
};
