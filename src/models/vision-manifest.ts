/** What inferyard.json states of a model that reads pictures: the field `vision`. */
import type { JsonObject } from "./model-folder.ts";

/** How the outputs of a detector are laid out. */
export type DetectorLayout = "detr" | "yolo" | "rfb" | "rfb-corners";

/** Statements about a model of pictures. What is absent comes from preprocessor_config.json and config.json. */
export interface VisionManifest {
  /** How pictures are prepared: the fields of preprocessor_config.json, and `letterbox`. */
  readonly preprocessor?: JsonObject;
  /** Names of the labels, in the order of the scores. */
  readonly labels?: readonly string[];
  /** Function from the output of a classifier to scores. */
  readonly activation?: "softmax" | "sigmoid" | "none";
  readonly detector?: {
    /** Layout of the outputs. */
    readonly layout: DetectorLayout;
    /** Smallest score of a detection. */
    readonly threshold?: number;
    /** Largest overlap (intersection over union) of two detections. */
    readonly overlap?: number;
    /** Whether detections of different labels may overlap. */
    readonly perLabel?: boolean;
  };
}
