import type { Command } from "commander";
import { detectObjectsOptions } from "../../tasks/vision/detect-objects-options.ts";
import { addOptionFlags } from "../option-flags.ts";
import { formatTable, printable } from "../output/table.ts";
import { plural } from "../output/units.ts";
import { runOnPictures } from "./picture-command.ts";
import { addLoadFlags } from "../session.ts";
import type { TaskFlags } from "../task-command.ts";
import type { Terminal } from "../terminal.ts";

const widestName = 60;

/** Defines the command `detect`. */
export function defineDetect(command: Command, terminal: Terminal): void {
  command
    .argument("<pictures...>", "pictures: PNG, JPEG, WebP, GIF, TIFF, AVIF")
    .option("--model <reference>", "a detector: a path, hf:owner/name, or a name in the store");
  addLoadFlags(addOptionFlags(command, detectObjectsOptions)).action(async (pictures: string[], flags: TaskFlags) => {
    await runOnPictures({ terminal, pictures, flags }, detectObjectsOptions, {
      run: (runtime, paths, request) => runtime.detectObjects(paths, request),
      show: ({ results }, names) => ({
        results,
        body: formatTable(
          results.flatMap((found, index) =>
            found.map(({ label, score, box: { xmin, ymin, xmax, ymax } }) => [
              printable(names[index] ?? "", widestName),
              label,
              score.toFixed(4),
              [xmin, ymin, xmax, ymax].map((side) => side.toFixed(0)).join(" "),
            ]),
          ),
        ),
        summary: `${plural(results.flat().length, "object")} in ${plural(names.length, "picture")} (left, top, right, bottom in pixels)`,
      }),
    });
  });
}
