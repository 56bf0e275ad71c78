/** `classify --image`: labels of pictures. */
import { invalidInput } from "../../contract/errors.ts";
import { classifyOptions } from "../../tasks/classification/classify-options.ts";
import { classifyImageOptions } from "../../tasks/vision/classify-image-options.ts";
import { formatTable, printable } from "../output/table.ts";
import { plural } from "../output/units.ts";
import type { TaskFlags } from "../task-command.ts";
import type { Terminal } from "../terminal.ts";
import { refuseFlagsOf, runOnPictures } from "./picture-command.ts";

/** Flags of the command `classify` that decide between texts and pictures. */
export interface ClassifyImageFlags extends TaskFlags {
  readonly image?: readonly string[];
}

/** Default number of labels shown per picture. */
const shownLabels = 3;
const widestName = 60;

/** Classifies the pictures of the flags; returns false if there are none. Throws INPUT_INVALID for flags of texts beside pictures, and the other way around. */
export async function classifyPictures(
  texts: readonly string[],
  flags: ClassifyImageFlags,
  terminal: Terminal,
): Promise<boolean> {
  const { image: pictures } = flags;
  if (pictures === undefined) {
    refuseFlagsOf(flags, Object.keys(classifyImageOptions), classifyOptions, "without --image");
    return false;
  }
  if (texts.length > 0) throw invalidInput("texts were given beside --image", "give either texts or pictures");
  refuseFlagsOf(flags, ["pair", "input", ...Object.keys(classifyOptions)], classifyImageOptions, "with --image");
  await runOnPictures({ terminal, pictures, flags }, classifyImageOptions, {
    run: (runtime, paths, request) => runtime.classifyImage(paths, request),
    show: ({ results }, names) => ({
      results,
      body: formatTable(
        names.map((name, index) => [
          printable(name, widestName),
          (results[index] ?? [])
            .slice(0, "topK" in flags ? undefined : shownLabels)
            .map(({ label, score }) => `${label} ${score.toFixed(4)}`)
            .join("  "),
        ]),
      ),
      summary: plural(names.length, "picture"),
    }),
  });
  return true;
}
