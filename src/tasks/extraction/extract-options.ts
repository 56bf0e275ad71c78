/** Options of the task `extraction`. */
import { type OffsetUnit, offsetUnits } from "../../tokenizers/index.ts";
import { type OptionTable, choice, number, unchecked, zeroOrMore } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions } from "../definition/task-options.ts";
import { type Aggregation, aggregations } from "../token-classification/entities.ts";
import type { ExtractSchema } from "./extract-schema.ts";

/** Options of `Runtime.extract`. */
export interface ExtractOptions extends TextTaskOptions {
  /** The fields to extract, by name. */
  readonly schema: ExtractSchema;
  /** Minimum score of a value, 0 to 1; below it a field counts as not found. Default: 0; with a GLiNER model 0.5. */
  readonly minScore?: number;
  /** How tokens are grouped into entities. Default: "first", which gives whole words. Refused for GLiNER models, which score spans. */
  readonly aggregation?: Exclude<Aggregation, "none">;
  /** Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: OffsetUnit;
  /** Overlap in tokens of the windows that a text longer than a model's limit is read in. Default: a quarter of a window. */
  readonly stride?: number;
}

/** All options of `extract`. Any other name is refused. */
export const extractOptions: OptionTable<ExtractOptions> = {
  schema: { type: unchecked },
  minScore: { type: number, flag: ["--min-score <number>", "minimum score of a value"] },
  aggregation: {
    type: choice(aggregations.filter((one) => one !== "none")),
    flag: ["--aggregation <how>", "how tokens become entities"],
  },
  offsets: { type: choice(offsetUnits), flag: ["--offsets <unit>", "unit of positions"] },
  stride: { type: zeroOrMore, flag: ["--stride <tokens>", "tokens by which windows of long texts overlap"] },
  ...textTaskOptions,
};
