/** Definition of the task `extraction`. */
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type TaskDescription, labelFiles } from "../shared/define-task.ts";

/** Fields of a schema from texts. It runs on up to two models, so `Runtime.extract` runs it. */
export const extractionTask: TaskDescription = {
  task: "extraction",
  verb: "extract",
  command: "extract",
  takes: "texts and a schema of fields",
  gives: "the fields of each text with scores and positions",
  models: `${architecturesOf("token-classification")}; ${architecturesOf("question-answering")} for fields that are questions`,
  files: labelFiles,
  pipeline: false,
};
