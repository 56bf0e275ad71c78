import type { Command } from "commander";
import { type Terminal, writeLine } from "../../terminal.ts";
import { version } from "../../../version.ts";

/** Defines the command `version`. */
export function defineVersion(command: Command, terminal: Terminal): void {
  command.action((flags: { json?: boolean }) => {
    const versions = { inferyard: version, node: process.version, platform: `${process.platform}/${process.arch}` };
    if (flags.json === true) return writeLine(terminal.stdout, JSON.stringify(versions));
    writeLine(terminal.stdout, `inferyard ${versions.inferyard}, Node.js ${versions.node.slice(1)}, ${versions.platform}`);
  });
}
