/** Options of the task `text-ranking`. */
import { type OptionTable, boolean, positiveInteger } from "../../runtime/options/option.ts";
import { textTaskOptions, truncateWithField } from "../definition/task-options.ts";
import type { RerankOptions } from "./generated-rerank-options.ts";

/** All options of `rerank`. Any other name is refused. */
export const rerankOptions: OptionTable<RerankOptions> = {
  topN: {
    type: positiveInteger,
    description: "Number of documents returned, best first. Default: all",
    flag: ["--top-n <number>", "maximum number of results, best first"],
  },
  raw: {
    type: boolean,
    flag: ["--raw", "raw model output, without an activation function"],
    field: "Return the model's logits as scores, without an activation. Only for cross-encoders. Default: false",
  },
  ...textTaskOptions,
  truncate: truncateWithField,
};
