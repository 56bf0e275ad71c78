/** Remedies of the library in the words of the command line. */
import type { Command } from "commander";
import { spellOptions } from "../contract/errors.ts";

/** Options whose flags have another name. */
const otherNames: Readonly<Record<string, string>> = { output: "out", shapes: "shape" };

/** The text with each quoted option as the flag of the command that sets it: `truncate: "cut"` becomes `--truncate cut`. Options without a flag stay quoted. */
export function spellFlags(text: string, command: Command): string {
  return spellOptions(text, (name, value) => {
    const attribute = otherNames[name] ?? name;
    const flag = command.options.find((option) => option.attributeName() === attribute)?.long;
    if (flag === undefined || flag === null) return undefined;
    return value === undefined || value === true ? flag : `${flag} ${value.toString()}`;
  });
}
