/** Options of the tasks `image-classification` and `zero-shot-image-classification`. */
import { type HeadActivation, headActivations } from "../encoding/label-head.ts";
import { type OptionTable, choice, listOption, positiveInteger, textOption } from "../../runtime/options/option.ts";
import { type VisionOptions, visionOptions } from "./vision-options.ts";

/** Options of `Runtime.classifyImage`. With `labels` the task is `zero-shot-image-classification`, otherwise `image-classification`. */
export interface ClassifyImageOptions extends VisionOptions {
  /** Number of labels returned per picture, best first. Default: all. */
  readonly topK?: number;
  /** Function from logits to scores. Default: as the model's files state; softmax, where they state nothing. */
  readonly activation?: HeadActivation;
  /** Candidate labels, for a model that compares pictures with texts (CLIP, SigLIP). Default: the labels the model was trained on. */
  readonly labels?: readonly string[];
  /** With `labels`: the text for a label, which replaces {}. Default: "This is a photo of {}." */
  readonly hypothesisTemplate?: string;
}

/** All options of `classifyImage`. Any other name is refused. */
export const classifyImageOptions: OptionTable<ClassifyImageOptions> = {
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "labels of each picture, best first"],
    field: "Maximum number of labels per picture. Default: all",
  },
  labels: {
    type: listOption,
    flag: ["--labels <labels>", "candidate labels, for a model that compares pictures with texts"],
    field: "Candidate labels, for a model that compares pictures with texts. Default: the model's own labels",
  },
  hypothesisTemplate: {
    type: textOption,
    flag: ["--template <sentence>", "with --labels: text in which {} stands for the label"],
    field: "With `labels`: text for a label, which replaces {}. Default: This is a photo of {}.",
  },
  activation: { type: choice(headActivations), flag: ["--activation <how>", "activation function, instead of the model's own"] },
  ...visionOptions,
};
