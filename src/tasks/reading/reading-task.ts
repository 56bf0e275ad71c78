/** The definition of the task that reads pictures. */
import { readingTaskName } from "../../models/page-reader.ts";
import type { MediaTask } from "../definition/media-task.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import type { ReadPageOptions } from "./read-options.ts";
import type { ReadPage } from "./read-page.ts";

/** The task `optical-character-recognition`: the lines of a page with their boxes. */
export const readingTask: MediaTask<PictureSource, ReadPageOptions, ReadPage> = {
  task: readingTaskName,
  verb: "read",
  command: "read",
  route: "/api/read",
  input: "pictures of pages",
  output: "lines with scores and boxes, and their words",
  models:
    "`*det*.onnx`, `*rec*.onnx` and perhaps `*cls*.onnx` of PP-OCR in one folder; for one line or fields VisionEncoderDecoderModel (TrOCR, Donut)",
  files: ["a dictionary: in the recognizer's metadata, or `*keys*.txt`; for TrOCR tokenizer.json and preprocessor_config.json"],
  pipeline: false,
  load: async () => {
    const [{ read }, { readPageOptions }] = await Promise.all([import("./read.ts"), import("./read-options.ts")]);
    return { options: readPageOptions, run: read };
  },
};
