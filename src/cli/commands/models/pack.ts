import type { Command } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { PackReport } from "../../../models/aimod/pack.ts";
import { withNotice } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, plural } from "../../output/units.ts";

interface PackFlags {
  readonly out?: string;
  readonly name?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** Defines the command `pack`. */
export function definePack(command: Command, terminal: Terminal): void {
  command
    .argument("<folder>", "folder of the model, in any supported format")
    .option("--out <file>", "package to write (default: NAME.aimod)")
    .option("--name <name>", "the model's name in the package")
    .option("--replace", "replace the package if it is there")
    .action(async (folder: string, { out, name, replace, json }: PackFlags) => {
      // Imported where it is needed: no other command writes archives.
      const { pack } = await import("../../../models/aimod/pack.ts");
      const work = pack(folder, {
        ...omitUndefined({ output: out, name, replace }),
        signal: terminal.signal,
      });
      const report = await withNotice(terminal, `packing ${folder}`, work);
      writeLine(terminal.stdout, json === true ? JSON.stringify(report) : summary(report));
    });
}

function summary({ name, output, files, contentBytes, bytes, sha256 }: PackReport): string {
  return [
    `${output}   ${name}, ${plural(files, "file")}, ${formatBytes(contentBytes)} in ${formatBytes(bytes)}`,
    `  sha256 ${sha256}`,
    `  try it: inferyard explain ${output.includes("/") ? output : `./${output}`}`,
  ].join("\n");
}
