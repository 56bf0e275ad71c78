/** Options of the task `sentence-similarity`. */
import { embedOptions } from "../embedding/embed-options.ts";
import { type OptionTable, choice, name } from "../../runtime/options/option.ts";
import { similarityMetrics } from "./similarity-matrix.ts";
import type { SimilarityOptions } from "./generated-similarity-options.ts";

const { precision: _precision, ranges: _ranges, outputs: _outputs, ...dense } = embedOptions; // neither quantized vectors nor other forms are compared

/** All options of `similarity`. Any other name is refused. */
export const similarityOptions: OptionTable<SimilarityOptions> = {
  metric: {
    type: choice(similarityMetrics),
    description:
      'Similarity measure; distances are negated, so that higher is more similar. Default: as the model\'s files state, otherwise "cosine"',
    flag: ["--metric <metric>", "how vectors are compared"],
  },
  otherPrompt: {
    type: name,
    description: "Name of the prompt for the second list of texts. Default: the one for the first list",
    flag: ["--other-prompt <name>", "prompt for those they are compared with"],
  },
  ...dense,
};
