/** Definition of the task `sparse-embedding`. */
import type { EmbedSparseOptions, SparseEmbeddings } from "./embed-sparse.ts";
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../shared/define-task.ts";

/** Sparse vectors of texts over the vocabulary. */
export const sparseEmbeddingTask: Task<readonly string[], EmbedSparseOptions, SparseEmbeddings> = defineTask(
  {
    task: "sparse-embedding",
    verb: "embedSparse",
    command: "embed --sparse",
    takes: "texts",
    gives: "weights of vocabulary tokens",
    models: architecturesOf("fill-mask"),
    files: tokenizerFiles,
    pipeline: false,
  },
  async () => {
    const { embedSparse, embedSparseOptionNames } = await import("./embed-sparse.ts");
    return { optionNames: embedSparseOptionNames, run: embedSparse };
  },
);
