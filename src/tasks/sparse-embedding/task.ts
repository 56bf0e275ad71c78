/** Definition of the task `sparse-embedding`. */
import type { EmbedSparseOptions } from "./embed-sparse-options.ts";
import type { SparseEmbeddings } from "./sparse-vectors.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** Sparse vectors of texts over the vocabulary. */
export const sparseEmbeddingTask: Task<readonly string[], EmbedSparseOptions, SparseEmbeddings> = defineTask(
  {
    task: "sparse-embedding",
    verb: "embedSparse",
    command: "embed --sparse",
    input: "texts",
    output: "weights of vocabulary tokens",
    models: `${getArchitectures("fill-mask")}; modules.json of a SparseEncoder; BGE-M3 with its sparse head`,
    files: tokenizerFiles,
    pipeline: false,
  },
  async () => {
    const [{ embedSparse }, { embedSparseOptions }] = await Promise.all([
      import("./embed-sparse.ts"),
      import("./embed-sparse-options.ts"),
    ]);
    return { options: embedSparseOptions, run: embedSparse };
  },
);
