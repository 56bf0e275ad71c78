/** Definition of the task `sentence-similarity`. */
import type { Similarities, SimilarityOptions } from "./similarity.ts";
import { type Task, defineTask, tokenizerFiles } from "../shared/define-task.ts";

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
    takes: "texts, and texts to compare them with",
    gives: "a score for each of the one with each of the other",
    models: "any embedding model",
    files: tokenizerFiles,
    pipeline: false,
  },
  async () => {
    const { similarity, similarityOptionNames } = await import("./similarity.ts");
    return {
      optionNames: similarityOptionNames,
      run: (encoder, { texts, others }, options) => similarity(encoder, texts, others, options),
    };
  },
);
