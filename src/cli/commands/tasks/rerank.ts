import type { Command } from "commander";
import { formatTable, printable } from "../../output/table.ts";
import { rerankOptions } from "../../../tasks/reranking/rerank-options.ts";
import { type TaskFlags, defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface RerankFlags extends TaskFlags {
  readonly query: string;
}

const widestText = 80;

/** Defines the command `rerank`. */
export function defineRerank(command: Command, terminal: Terminal): void {
  command
    .argument("[documents...]", "documents; or --input, or lines on stdin")
    .requiredOption("--query <text>", "the query")
    .option("--model <reference>", "cross-encoder or embedding model: a path, hf:owner/name, or a name in the store");
  defineTask(command, terminal, rerankOptions, ({ query }: RerankFlags) => ({
    run: (runtime, all, request) => runtime.rerank(query, all, request),
    show: ({ results, scoring, truncated }, all) => ({
      results,
      extraFields: { scoring },
      title: scoring === "cosine" ? "cosine of embeddings" : `score: ${scoring}`,
      body: formatTable(
        results.map(({ index, score, text }) => [String(index), score.toFixed(4), printable(text, widestText)]),
        ["index", "score", "text"],
      ),
      summary: plural(all.length, "document"),
      truncated,
    }),
  }));
}
