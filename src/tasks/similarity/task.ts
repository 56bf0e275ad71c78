/** Definition of the task `sentence-similarity`. */
import type { Similarities } from "./similarity.ts";
import type { SimilarityOptions } from "./similarity-options.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** Two lists of texts; every text of the first is compared with every text of the second. */
export interface SimilarityInput {
  readonly texts: readonly string[];
  readonly others: readonly string[];
}

/** Similarity matrix of two lists of texts. */
export const similarityTask: Task<SimilarityInput, SimilarityOptions, Similarities> = defineTask(
  {
    task: "sentence-similarity",
    verb: "similarity",
    command: "similarity",
    defaultModel: "builtin",
    input: "texts, and texts to compare them with",
    output: "a score for each of the one with each of the other",
    models: "any embedding model",
    files: tokenizerFiles,
    pipeline: false,
  },
  async () => {
    const [{ similarity }, { similarityOptions }] = await Promise.all([
      import("./similarity.ts"),
      import("./similarity-options.ts"),
    ]);
    return {
      options: similarityOptions,
      run: (encoder, { texts, others }, options) => similarity(encoder, texts, others, options),
    };
  },
);
