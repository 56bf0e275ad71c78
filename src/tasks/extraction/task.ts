/** Definition of the task `extraction`. */
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type TaskDescription, labelFiles } from "../definition/define-task.ts";

/** Fields of a schema from texts. It runs on up to two models, so src/api/extract-fields.ts runs it instead of a `load` here. */
export const extractionTask: TaskDescription = {
  task: "extraction",
  verb: "extract",
  command: "extract",
  input: "texts and a schema of fields",
  output: "the fields of each text with scores and positions",
  models: `${getArchitectures("token-classification")}; ${getArchitectures("question-answering")} for fields that are questions`,
  files: labelFiles,
  pipeline: false,
};
