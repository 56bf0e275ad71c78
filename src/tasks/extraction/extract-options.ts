/** Options of the task `extraction`. */
import { type OptionTable, choice, number, unchecked } from "../../runtime/options/option.ts";
import { textTaskOptions, positionsUnit, windowStride } from "../definition/task-options.ts";
import { aggregations } from "../token-classification/entities.ts";
import type { ExtractOptions } from "./generated-extract-options.ts";

/** All options of `extract`. Any other name is refused. */
export const extractOptions: OptionTable<ExtractOptions> = {
  schema: { type: unchecked, typescript: "ExtractSchema", isRequired: true, description: "The fields to extract, by name" },
  minScore: {
    type: number,
    description: "Minimum score of a value, 0 to 1; below it a field counts as not found. Default: 0; with a GLiNER model 0.5",
    flag: ["--min-score <number>", "minimum score of a value"],
  },
  aggregation: {
    type: choice(aggregations.filter((one) => one !== "none")),
    description:
      'How tokens are grouped into entities. Default: "first", which gives whole words. Refused for GLiNER models, which score spans',
    flag: ["--aggregation <how>", "how tokens become entities"],
  },
  offsets: positionsUnit,
  stride: windowStride,
  ...textTaskOptions,
};
