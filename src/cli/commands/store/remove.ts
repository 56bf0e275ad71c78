import type { Command } from "commander";
import { openStore } from "../../model-store.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes } from "../../output/units.ts";

/** Adds the command `remove`. */
export function addRemove(program: Command, terminal: Terminal): void {
  program
    .command("remove")
    .description("remove a model from the store, with the files that no other model shares")
    .argument("<model>", "its reference, or its name in the store")
    .action(async (model: string, { json }: { readonly json?: boolean }) => {
      const report = await openStore(terminal).remove(model);
      const text = `${report.name} removed, ${formatBytes(report.freedBytes)} freed`;
      writeLine(terminal.stdout, json === true ? JSON.stringify(report) : text);
    });
}
