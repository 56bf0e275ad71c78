/** Options of the task `sentence-similarity`. */
import { type EmbedOptions, embedOptions } from "../embedding/embed-options.ts";
import { type OptionTable, choice, name } from "../../runtime/options/option.ts";
import { type SimilarityMetric, similarityMetrics } from "./similarity-matrix.ts";

/** Options of `Runtime.similarity`: options of embedding, and of the comparison. */
export interface SimilarityOptions extends Omit<EmbedOptions, "precision"> {
  /** Similarity measure; distances are negated, so that higher is more similar. Default: as the model's files state, otherwise "cosine". */
  readonly metric?: SimilarityMetric;
  /** Name of the prompt for the second list of texts. Default: the one for the first list. */
  readonly otherPrompt?: string;
}

const { precision: _precision, ranges: _ranges, outputs: _outputs, ...dense } = embedOptions; // neither quantized vectors nor other forms are compared

/** All options of `similarity`. Any other name is refused. */
export const similarityOptions: OptionTable<SimilarityOptions> = {
  metric: { type: choice(similarityMetrics), flag: ["--metric <metric>", "how vectors are compared"] },
  otherPrompt: { type: name, flag: ["--other-prompt <name>", "prompt for those they are compared with"] },
  ...dense,
};
