import type { Command } from "commander";
import { taskTable } from "../../../tasks/definitions.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Defines the command `tasks`. */
export function defineTasks(command: Command, terminal: Terminal): void {
  command.action((flags: { readonly json?: boolean }) => {
    if (flags.json === true) return writeLine(terminal.stdout, JSON.stringify(taskTable));
    const rows = taskTable.map(({ task, command, input, output }) => [command, task, input, output]);
    writeLine(terminal.stdout, formatTable(rows, ["command", "task", "input", "output"]));
  });
}
