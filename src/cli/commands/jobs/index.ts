import type { Command } from "commander";
import type { Terminal } from "../../terminal.ts";
import { addControl } from "./control.ts";
import { addResume, addRun } from "./run.ts";
import { addWork } from "./work.ts";

/** Defines the command `jobs` with its subcommands. */
export function defineJobs(command: Command, terminal: Terminal): void {
  addRun(command, terminal);
  addResume(command, terminal);
  addControl(command, terminal);
  addWork(command, terminal);
}
