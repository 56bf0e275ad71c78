/** Definition of the task `chunking`. */
import { type TaskDescription, tokenizerFiles } from "../shared/define-task.ts";

/** Chunks of long texts. Most strategies load only a tokenizer, so `Runtime.chunk` runs it. */
export const chunkingTask: TaskDescription = {
  task: "chunking",
  verb: "chunk",
  command: "chunk",
  takes: "long texts",
  gives: "parts of at most so many tokens",
  models: "any with a tokenizer",
  files: tokenizerFiles,
  pipeline: false,
};
