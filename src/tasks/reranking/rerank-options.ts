/** Options of the task `text-ranking`. */
import { type OptionTable, boolean, positiveInteger } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions, truncateWithField } from "../definition/task-options.ts";

/** Options of `Runtime.rerank`. */
export interface RerankOptions extends TextTaskOptions {
  /** Number of documents returned, best first. Default: all. */
  readonly topN?: number;
  /** Return the model's logits as scores, without an activation. Only for cross-encoders. Default: false. */
  readonly raw?: boolean;
}

/** All options of `rerank`. Any other name is refused. */
export const rerankOptions: OptionTable<RerankOptions> = {
  topN: { type: positiveInteger, flag: ["--top-n <number>", "maximum number of results, best first"] },
  raw: {
    type: boolean,
    flag: ["--raw", "raw model output, without an activation function"],
    field: "Return the model's raw output, without an activation function. Default: false",
  },
  ...textTaskOptions,
  truncate: truncateWithField,
};
