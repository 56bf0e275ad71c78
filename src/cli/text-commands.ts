/** What the commands that take texts share. */
import { type Command, Option } from "commander";
import { positiveInteger } from "./session.ts";
import { type Terminal, writeLine } from "./terminal.ts";
import { plural } from "./units.ts";

export function inputOption(): Option {
  return new Option("--input <file>", "texts from a file: .txt a line each, .jsonl strings or objects with `text`; - is stdin");
}

/** Limits of every text task. */
export function addLimitFlags(command: Command, truncations: readonly string[] = ["cut", "error"]): Command {
  return command
    .addOption(new Option("--max-tokens <number>", "longest text in tokens").argParser(positiveInteger))
    .addOption(new Option("--truncate <how>", "what to do with longer texts").choices(truncations))
    .addOption(new Option("--batch-tokens <number>", "padded tokens in one batch").argParser(positiveInteger));
}

/** Says which texts were cut. `first`: the number of the first text of this part. */
export function noteCut(truncated: readonly number[], first: number, terminal: Terminal): void {
  if (truncated.length === 0) return;
  const shown = truncated.slice(0, 5).map((index) => first + index + 1);
  const places = `${shown.join(", ")}${truncated.length > shown.length ? ", …" : ""}`;
  writeLine(
    terminal.stderr,
    `${plural(truncated.length, "text")} longer than the model reads, cut (number ${places}); --truncate error refuses them`,
  );
}
