/** Options of the task `audio-classification`. */
import { choice, type OptionTable, positiveInteger, unchecked } from "../../../runtime/options/option.ts";
import { type HeadActivation, headActivations } from "../../encoding/label-head.ts";

/** Options of `classifySound`. */
export interface ClassifySoundOptions {
  /** Maximum number of labels per sound. Default: all labels. */
  readonly topK?: number;
  /** Function from logits to scores. Default: the model's own; "softmax" if its files state none. */
  readonly activation?: HeadActivation;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** Everything about the options in `ClassifySoundOptions`. */
export const classifySoundOptions: OptionTable<ClassifySoundOptions> = {
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "labels per sound at most"],
    field: "Maximum number of labels per sound. Default: all labels",
  },
  activation: {
    type: choice(headActivations),
    flag: ["--activation <name>", "function from logits to scores"],
    field: "Function from logits to scores. Default: the model's own",
  },
  signal: { type: unchecked },
};
