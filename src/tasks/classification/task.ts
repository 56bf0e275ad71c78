/** Definition of the tasks `text-classification` and `zero-shot-classification`. */
import type { Classifications } from "../shared/label-head.ts";
import type { ClassifyOptions } from "./classify.ts";
import type { TextPair } from "../shared/encode-pairs.ts";
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, labelFiles } from "../shared/define-task.ts";

type ClassificationTask = Task<readonly (string | TextPair)[], ClassifyOptions, Classifications>;

const load: ClassificationTask["load"] = async () => {
  const { classify, classifyOptionNames } = await import("./classify.ts");
  return { optionNames: classifyOptionNames, run: classify };
};

/** Labels of texts by a classifier. */
export const textClassificationTask: ClassificationTask = defineTask(
  {
    task: "text-classification",
    verb: "classify",
    command: "classify",
    takes: "texts, or pairs of texts",
    gives: "labels with scores",
    models: architecturesOf("text-classification"),
    files: labelFiles,
    pipeline: true,
  },
  load,
);

/** Labels of your own for texts. Same code as `textClassificationTask`: the option `labels` selects it. */
export const zeroShotClassificationTask: ClassificationTask = defineTask(
  {
    task: "zero-shot-classification",
    verb: "classify",
    command: "classify --labels",
    takes: "texts, and labels of your own",
    gives: "those labels with scores",
    models: `${architecturesOf("text-classification")} with a label "entailment"`,
    files: labelFiles,
    pipeline: true,
  },
  load,
);
