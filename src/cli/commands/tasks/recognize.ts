import type { Command } from "commander";
import { toHuggingFaceEntities } from "../../../tasks/hugging-face-results.ts";
import { formatTable, printable } from "../../output/table.ts";
import { recognizeOptions } from "../../../tasks/token-classification/recognize-options.ts";
import { defineTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

const widestText = 40;

/** Defines the command `recognize`. */
export function defineRecognize(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a token-classification head: a path, hf:owner/name, or a name in the store");
  defineTask(command, terminal, recognizeOptions, () => ({
    run: (runtime, all, request) => runtime.recognize(all, request),
    show: ({ results }, all) => {
      const rows = results.flatMap((entities, index) =>
        entities.map((entity) => [
          printable(all[index] ?? "", widestText),
          entity.entityGroup ?? entity.entity ?? "",
          printable(entity.word, widestText),
          `${entity.start}-${entity.end}`,
          entity.score.toFixed(4),
        ]),
      );
      const counted = rows.length === 1 ? "1 entity" : `${rows.length} entities`;
      return {
        results: results.map(toHuggingFaceEntities),
        body: rows.length > 0 ? formatTable(rows, ["text", "kind", "word", "place", "score"]) : "",
        summary: `${counted} of ${plural(all.length, "text")}`,
      };
    },
  }));
}
