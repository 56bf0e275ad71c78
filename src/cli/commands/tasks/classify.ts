import { type Command, Option } from "commander";
import { type Activation, activations } from "../../../tasks/shared/label-head.ts";
import { list, positiveInteger } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { type TaskFlags, addTaskFlags, runTask } from "../../task-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface ClassifyFlags extends TaskFlags {
  readonly topK?: number;
  readonly pair?: string;
  readonly labels?: readonly string[];
  readonly template?: string;
  readonly multiLabel?: boolean;
  readonly activation?: Activation;
}

/** Default number of labels shown per text. */
const shownLabels = 3;
const widestText = 60;

/** Adds the command `classify`. */
export function addClassify(program: Command, terminal: Terminal): void {
  const command = program
    .command("classify")
    .description("the labels of texts, with scores")
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a classification head: a path, hf:owner/name, or a name in the store")
    .option("--pair <text>", "a second text, paired with each")
    .addOption(new Option("--top-k <number>", "labels of each text, best first").argParser(positiveInteger))
    .addOption(new Option("--labels <labels>", "candidate labels, for a natural-language-inference model").argParser(list))
    .option("--template <sentence>", "with --labels: hypothesis in which {} stands for the label")
    .option("--multi-label", "with --labels: score each label independently")
    .addOption(new Option("--activation <how>", "activation function, instead of the model's own").choices(activations));
  addTaskFlags(command).action(async (texts: string[], flags: ClassifyFlags) => {
    const { topK, activation, labels, template: hypothesisTemplate, multiLabel, pair } = flags;
    const options = { topK, activation, labels, hypothesisTemplate, multiLabel };
    await runTask(
      { terminal, texts, flags, options },
      (runtime, all, request) =>
        runtime.classify(
          all.map((text) => (pair === undefined ? text : { text, pair })),
          request,
        ),
      ({ results, truncated }, all) => ({
        results,
        body: formatTable(
          all.map((text, index) => [
            printable(text, widestText),
            (results[index] ?? [])
              .slice(0, topK ?? shownLabels)
              .map(({ label, score }) => `${label} ${score.toFixed(4)}`)
              .join("  "),
          ]),
        ),
        summary: plural(all.length, "text"),
        truncated,
      }),
    );
  });
}
