/** Options of the task `token-classification`. */
import { type OffsetUnit, offsetUnits } from "../../tokenizers/index.ts";
import { type OptionTable, boolean, choice, listOption, zeroOrMore } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions } from "../definition/task-options.ts";
import { type Aggregation, aggregations } from "./entities.ts";

/** Options of `Runtime.recognize`. */
export interface RecognizeOptions extends TextTaskOptions {
  /** How tokens are grouped into entities (transformers' `aggregation_strategy`). Default: "simple". */
  readonly aggregation?: Aggregation;
  /** Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: OffsetUnit;
  /** Labels that mark no entity and are dropped. Default: ["O"]. */
  readonly ignoreLabels?: readonly string[];
  /** Overlap in tokens of the windows that a text longer than the model's limit is read in. Default: a quarter of a window. */
  readonly stride?: number;
  /** Entity types to look for, in your own words. Required for GLiNER models, refused for others, which know the types they were trained on. */
  readonly labels?: readonly string[];
  /** With `labels`: minimum score of an entity, from 0 to below 1. Default: 0.5. */
  readonly threshold?: number;
  /** With `labels`: whether entities may be nested. Default: false. */
  readonly nested?: boolean;
  /** With `labels`: whether one span may have several labels. Default: false. */
  readonly multiLabel?: boolean;
}

/** All options of `recognize`. Any other name is refused. */
export const recognizeOptions: OptionTable<RecognizeOptions> = {
  aggregation: { type: choice(aggregations), flag: ["--aggregation <how>", "how tokens become entities"] },
  labels: {
    type: listOption,
    flag: ["--labels <labels>", "entity types to find, for a GLiNER model"],
    field: "Entity types to find, for models with open types (GLiNER)",
  },
  threshold: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--threshold <score>", "with --labels: minimum score of an entity (default: 0.5)"],
    field: "With `labels`: minimum score of an entity. Default: 0.5",
  },
  nested: { type: boolean, flag: ["--nested", "with --labels: allow nested entities"] },
  multiLabel: { type: boolean, flag: ["--multi-label", "with --labels: allow several labels per entity"] },
  ignoreLabels: { type: listOption },
  offsets: {
    type: choice(offsetUnits),
    flag: ["--offsets <unit>", "unit of positions"],
    field: "Unit of `start` and `end`. Default: utf16",
  },
  stride: { type: zeroOrMore, flag: ["--stride <tokens>", "tokens by which windows of long texts overlap"] },
  ...textTaskOptions,
};
