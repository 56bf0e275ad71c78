/** Options of the task `fill-mask`. */
import { type OptionTable, positiveInteger, listOption } from "../../runtime/options/option.ts";
import { textTaskOptions, truncateWithField } from "../definition/task-options.ts";
import type { FillMaskOptions } from "./generated-fill-mask-options.ts";

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
    field: "Restrict the result to these words; scores remain probabilities over the whole vocabulary. Default: every token",
  },
  ...textTaskOptions,
  truncate: truncateWithField,
};
