/** Definition of the task `token-classification`. */
import type { Entities } from "./entities.ts";
import type { RecognizeOptions } from "./recognize.ts";
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, labelFiles } from "../shared/define-task.ts";

/** The task `token-classification`: named entities in texts. */
export const tokenClassificationTask: Task<readonly string[], RecognizeOptions, Entities> = defineTask(
  {
    task: "token-classification",
    verb: "recognize",
    command: "recognize",
    takes: "texts",
    gives: "names with their kinds and positions",
    models: `${architecturesOf("token-classification")}; gliner_config.json, for labels of your own`,
    files: labelFiles,
    pipeline: true,
  },
  async () => {
    const { recognize, recognizeOptionNames } = await import("./recognize.ts");
    return { optionNames: recognizeOptionNames, run: recognize };
  },
);
