/** Options of the task `object-detection`. */
import { type OptionTable, positiveInteger } from "../../runtime/options/option.ts";
import { type VisionOptions, visionOptions } from "./vision-options.ts";

/** Options of `Runtime.detectObjects`. */
export interface DetectObjectsOptions extends VisionOptions {
  /** Smallest score of a detection, from 0 to 1. Default: as the model's inferyard.json states, otherwise 0.5. */
  readonly threshold?: number;
  /** Largest overlap (intersection over union) of two detections, from 0 to 1; without effect on DETR's. Default: as inferyard.json states, otherwise 0.45. */
  readonly overlap?: number;
  /** Number of detections returned per picture, best first. Default: all. */
  readonly topK?: number;
}

/** All options of `detectObjects`. Any other name is refused. */
export const detectObjectsOptions: OptionTable<DetectObjectsOptions> = {
  threshold: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--threshold <score>", "smallest score of a detection"],
    field: "Smallest score of a detection, from 0 to 1. Default: the model's own, otherwise 0.5",
  },
  overlap: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--overlap <part>", "largest overlap of two detections"],
    field: "Largest overlap of two detections, from 0 to 1. Default: the model's own, otherwise 0.45",
  },
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "detections of each picture, best first"],
    field: "Maximum number of detections per picture. Default: all",
  },
  ...visionOptions,
};
