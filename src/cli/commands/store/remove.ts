import type { Command } from "commander";
import { openStore } from "../../model-store.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes } from "../../output/units.ts";

/** Defines the command `remove`. */
export function defineRemove(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "its reference, or its name in the store")
    .action(async (model: string, { json }: { readonly json?: boolean }) => {
      const report = await openStore(terminal).remove(model);
      const text = `${report.name} removed, ${formatBytes(report.freedBytes)} freed`;
      writeLine(terminal.stdout, json === true ? JSON.stringify(report) : text);
    });
}
