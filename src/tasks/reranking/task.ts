/** Definition of the task `text-ranking`. */
import type { Ranking } from "./cross-encoder.ts";
import type { RerankOptions } from "./rerank-options.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** The query and the documents to order. */
export interface RerankInput {
  readonly query: string;
  readonly documents: readonly string[];
}

/** Documents by relevance to a query. */
export const rerankingTask: Task<RerankInput, RerankOptions, Ranking> = defineTask(
  {
    task: "text-ranking",
    verb: "rerank",
    command: "rerank",
    route: "/api/rerank",
    defaultModel: "builtin",
    input: "a query and documents",
    output: "the documents in order, with scores",
    models: `${getArchitectures("text-classification")} with one or two labels; any embedding model; a multi-vector model, or token vectors called "contextual"`,
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const [{ rerank }, { rerankOptions }] = await Promise.all([import("./rerank.ts"), import("./rerank-options.ts")]);
    return {
      options: rerankOptions,
      run: (encoder, { query, documents }, options) => rerank(encoder, query, documents, options),
    };
  },
);
