/** Definition of the task `text-ranking`. */
import type { Ranking, RerankOptions } from "./cross-encoder.ts";
import { architecturesOf } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../shared/define-task.ts";

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
    takes: "a query and documents",
    gives: "the documents in order, with scores",
    models: `${architecturesOf("text-classification")} with one or two labels; any embedding model; token vectors called "contextual"`,
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const { rerank, rerankOptionNames } = await import("./rerank.ts");
    return {
      optionNames: rerankOptionNames,
      run: (encoder, { query, documents }, options) => rerank(encoder, query, documents, options),
    };
  },
);
