import type { Command } from "commander";
import { imageFeaturesOptions } from "../../tasks/vision/image-features.ts";
import { addOptionFlags } from "../option-flags.ts";
import { formatTable, printable } from "../output/table.ts";
import { plural } from "../output/units.ts";
import { runOnPictures } from "./picture-command.ts";
import { addLoadFlags } from "../session.ts";
import type { TaskFlags } from "../task-command.ts";
import type { Terminal } from "../terminal.ts";

const widestName = 60;
/** Numbers shown of each picture. */
const shownNumbers = 4;

/** Defines the command `image-features`. */
export function defineImageFeatures(command: Command, terminal: Terminal): void {
  command
    .argument("<pictures...>", "pictures: PNG, JPEG, WebP, GIF, TIFF, AVIF")
    .option("--model <reference>", "an encoder of pictures: a path, hf:owner/name, or a name in the store");
  addLoadFlags(addOptionFlags(command, imageFeaturesOptions)).action(async (pictures: string[], flags: TaskFlags) => {
    await runOnPictures({ terminal, pictures, flags }, imageFeaturesOptions, {
      run: (runtime, paths, request) => runtime.imageFeatures(paths, request),
      show: ({ features }, names) => ({
        results: features.map(({ shape, data }) => ({ shape, data: [...data] })),
        body: formatTable(
          features.map(({ shape, data }, index) => [
            printable(names[index] ?? "", widestName),
            `[${shape.join(", ")}]`,
            `${[...data.subarray(0, shownNumbers)].map((value) => value.toFixed(4)).join(" ")} …`,
          ]),
        ),
        summary: plural(names.length, "picture"),
      }),
    });
  });
}
