import type { Command } from "commander";
import { formatTable, printable } from "../../output/table.ts";
import { classifyOptions } from "../../../tasks/classification/classify-options.ts";
import { type TaskFlags, defineTask } from "../../task-command.ts";
import { classifyImageOptions } from "../../../tasks/vision/classify-image-options.ts";
import { type ClassifyImageFlags, classifyPictures } from "../../pictures/classify-pictures.ts";
import { imageOption } from "../../pictures/picture-command.ts";
import type { Terminal } from "../../terminal.ts";
import { plural } from "../../output/units.ts";

interface ClassifyFlags extends TaskFlags {
  readonly pair?: string;
}

/** Default number of labels shown per text. */
const shownLabels = 3;
const widestText = 60;

/** Defines the command `classify`. */
export function defineClassify(command: Command, terminal: Terminal): void {
  command
    .argument("[texts...]", "texts; or --input, or lines on stdin")
    .option("--model <reference>", "model with a classification head: a path, hf:owner/name, or a name in the store")
    .option("--pair <text>", "a second text, paired with each")
    .addOption(imageOption());
  const pictures = {
    table: classifyImageOptions,
    run: (texts: readonly string[], flags: ClassifyImageFlags) => classifyPictures(texts, flags, terminal),
  };
  defineTask(
    command,
    terminal,
    classifyOptions,
    ({ pair }: ClassifyFlags, _texts, options) => ({
      run: (runtime, all, request) =>
        runtime.classify(
          all.map((text) => (pair === undefined ? text : { text, pair })),
          request,
        ),
      show: ({ results, truncated }, all) => ({
        results,
        body: formatTable(
          all.map((text, index) => [
            printable(text, widestText),
            (results[index] ?? [])
              .slice(0, options.topK ?? shownLabels)
              .map(({ label, score }) => `${label} ${score.toFixed(4)}`)
              .join("  "),
          ]),
        ),
        summary: plural(all.length, "text"),
        truncated,
      }),
    }),
    pictures,
  );
}
