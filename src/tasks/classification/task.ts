/** Definition of the tasks `text-classification` and `zero-shot-classification`. */
import type { Classifications } from "../encoding/label-head.ts";
import type { ClassifyOptions } from "./classify-options.ts";
import type { TextPair } from "../encoding/encode-pairs.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, type TaskDescription, defineTask, labelFiles } from "../definition/define-task.ts";

/** Labels of texts by a classifier; with the option `labels` this is `zero-shot-classification`. */
export const textClassificationTask: Task<readonly (string | TextPair)[], ClassifyOptions, Classifications> = defineTask(
  {
    task: "text-classification",
    verb: "classify",
    command: "classify",
    route: "/api/classify",
    input: "texts, or pairs of texts",
    output: "labels with scores",
    models: getArchitectures("text-classification"),
    files: labelFiles,
    pipeline: true,
  },
  async () => {
    const [{ classify }, { classifyOptions }] = await Promise.all([import("./classify.ts"), import("./classify-options.ts")]);
    return { options: classifyOptions, run: classify };
  },
);

/** Labels of your own for texts. `textClassificationTask` runs it. */
export const zeroShotClassificationTask: TaskDescription = {
  task: "zero-shot-classification",
  verb: "classify",
  command: "classify --labels",
  route: "/api/classify",
  input: "texts, and labels of your own",
  output: "those labels with scores",
  models: `${getArchitectures("text-classification")} with a label "entailment"`,
  files: labelFiles,
  pipeline: true,
};
