import type { Command } from "commander";
import type { BundleReport } from "../../../bundling/build-bundle.ts";
import { formatBytes, plural } from "../../output/units.ts";
import { withNotice } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

interface BuildFlags {
  readonly backends?: readonly string[];
  readonly out: string;
  readonly json?: boolean;
}

/** Defines the command `build`. */
export function defineBuild(command: Command, terminal: Terminal): void {
  command
    .argument("[entry]", "module that the bundle starts with (default: the command line, with the server)")
    .option(
      "--backends <names>",
      "backends that the bundle has, such as native,xla (default: as inferyard.config says)",
      (names) => names.split(",").flatMap((name) => name.trim() || []),
    )
    .option("--out <folder>", "folder to write", "inferyard-bundle")
    .action(async (entry: string | undefined, { backends, out, json }: BuildFlags) => {
      // Imported where they are needed: no other command makes bundles.
      const { selectBackends } = await import("../../../bundling/selected-backends.ts");
      const { buildBundle } = await import("../../../bundling/build-bundle.ts");
      const selected = await selectBackends(backends, { folder: terminal.directory, variables: terminal.environment });
      const report = await withNotice(
        terminal,
        "bundling",
        buildBundle({ entry, out, directory: terminal.directory, backends: selected }),
      );
      writeLine(terminal.stdout, json === true ? JSON.stringify(report) : summary(report));
    });
}

function summary({ program, backends, lacks, files, bytes, notes }: BundleReport): string {
  return [
    `${program}   ${plural(files.length, "file")}, ${formatBytes(bytes)}`,
    `  has    ${backends.join(", ")}`,
    `  lacks  ${lacks.join(", ") || "nothing"}`,
    ...notes.map((note) => `  note: ${note}`),
    `  try it: node ${program}`,
  ].join("\n");
}
