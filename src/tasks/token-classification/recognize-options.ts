/** Options of the task `token-classification`. */
import { type OptionTable, boolean, choice, listOption } from "../../runtime/options/option.ts";
import { textTaskOptions, positionsUnit, unitDescription, windowStride } from "../definition/task-options.ts";
import { aggregations } from "./entities.ts";
import type { RecognizeOptions } from "./generated-recognize-options.ts";

/** All options of `recognize`. Any other name is refused. */
export const recognizeOptions: OptionTable<RecognizeOptions> = {
  aggregation: {
    type: choice(aggregations),
    description: 'How tokens are grouped into entities (transformers\' `aggregation_strategy`). Default: "simple"',
    flag: ["--aggregation <how>", "how tokens become entities"],
  },
  labels: {
    type: listOption,
    flag: ["--labels <labels>", "entity types to find, for a GLiNER model"],
    field:
      "Entity types to look for, in your own words. Required for GLiNER models, refused for others, which know the types they were trained on",
  },
  threshold: {
    type: { kind: "number", min: 0, max: 1 },
    flag: ["--threshold <score>", "with --labels: minimum score of an entity (default: 0.5)"],
    field: "With `labels`: minimum score of an entity, from 0 to below 1. Default: 0.5",
  },
  nested: {
    type: boolean,
    description: "With `labels`: whether entities may be nested. Default: false",
    flag: ["--nested", "with --labels: allow nested entities"],
  },
  multiLabel: {
    type: boolean,
    description: "With `labels`: whether one span may have several labels. Default: false",
    flag: ["--multi-label", "with --labels: allow several labels per entity"],
  },
  ignoreLabels: { type: listOption, description: 'Labels that mark no entity and are dropped. Default: ["O"]' },
  offsets: { ...positionsUnit, field: unitDescription },
  stride: windowStride,
  ...textTaskOptions,
};
