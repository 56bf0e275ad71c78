/** Options of the task `fill-mask`. */
import { type OptionTable, positiveInteger, listOption } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions, truncateWithField } from "../definition/task-options.ts";

/** Options of `Runtime.fillMask`. */
export interface FillMaskOptions extends TextTaskOptions {
  /** Number of tokens returned per mask, best first. Default: 5. */
  readonly topK?: number;
  /** Restrict the result to these words; scores remain probabilities over the whole vocabulary. Default: every token. */
  readonly targets?: readonly string[];
}

/** All options of `fillMask`. Any other name is refused. */
export const fillMaskOptions: OptionTable<FillMaskOptions> = {
  topK: {
    type: positiveInteger,
    flag: ["--top-k <number>", "tokens for each mask, best first"],
    field: "Number of tokens for each mask, best first. Default: 5",
  },
  targets: {
    type: listOption,
    flag: ["--targets <words>", "consider only these words"],
    field: "Consider only these words; scores remain probabilities over the whole vocabulary",
  },
  ...textTaskOptions,
  truncate: truncateWithField,
};
