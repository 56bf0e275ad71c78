/** Definition of the task `token-classification`. */
import type { Entities } from "./entities.ts";
import type { RecognizeOptions } from "./recognize-options.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, labelFiles } from "../definition/define-task.ts";

/** The task `token-classification`: named entities in texts. */
export const tokenClassificationTask: Task<readonly string[], RecognizeOptions, Entities> = defineTask(
  {
    task: "token-classification",
    verb: "recognize",
    command: "recognize",
    route: "/api/recognize",
    input: "texts",
    output: "names with their kinds and positions",
    models: `${getArchitectures("token-classification")}; gliner_config.json, for labels of your own`,
    files: labelFiles,
    pipeline: true,
  },
  async () => {
    const [{ recognize }, { recognizeOptions }] = await Promise.all([import("./recognize.ts"), import("./recognize-options.ts")]);
    return { options: recognizeOptions, run: recognize };
  },
);
