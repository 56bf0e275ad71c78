import { type Command, Option } from "commander";
import { type Aggregation, aggregations } from "../../../tasks/token-classification/entities.ts";
import { toHuggingFaceEntities } from "../../../tasks/shared/hugging-face-results.ts";
import { type OffsetUnit, offsetUnits } from "../../../tokenizers/index.ts";
import { list, positiveInteger } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { type TaskFlags, addTaskFlags, runTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface RecognizeFlags extends TaskFlags {
  readonly aggregation?: Aggregation;
  readonly offsets?: OffsetUnit;
  readonly stride?: number;
  readonly labels?: readonly string[];
  readonly threshold?: number;
  readonly nested?: boolean;
  readonly multiLabel?: boolean;
}

const widestText = 40;

/** Adds the command `recognize`. */
export function addRecognize(program: Command, terminal: Terminal): void {
  const command = program
    .command("recognize")
    .description("named entities in texts, with their positions")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a token-classification head: a path, hf:owner/name, or a name in the store")
    .addOption(new Option("--aggregation <how>", "how tokens become entities").choices(aggregations))
    .addOption(new Option("--labels <labels>", "entity types to find, for a GLiNER model").argParser(list))
    .addOption(new Option("--threshold <score>", "with --labels: minimum score of an entity (default: 0.5)").argParser(Number))
    .option("--nested", "with --labels: allow nested entities")
    .option("--multi-label", "with --labels: allow several labels per entity")
    .addOption(new Option("--offsets <unit>", "unit of positions").choices([...offsetUnits]))
    .addOption(new Option("--stride <tokens>", "tokens by which windows of long texts overlap").argParser(positiveInteger));
  addTaskFlags(command).action(async (texts: string[], flags: RecognizeFlags) => {
    const { aggregation, offsets, stride, labels, threshold, nested, multiLabel } = flags;
    const options = { aggregation, offsets, stride, labels, threshold, nested, multiLabel };
    await runTask(
      { terminal, texts, flags, options },
      (runtime, all, request) => runtime.recognize(all, request),
      ({ results }, all) => {
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
    );
  });
}
