/** Colors of terminal output. */
import { styleText } from "node:util";
import type { Terminal } from "../terminal.ts";

/** Meaning of a color. */
export type Tone = "good" | "warn" | "bad" | "quiet";

const formats = { good: "green", warn: "yellow", bad: "red", quiet: "dim" } as const;

/** The text in the color of the tone, if stdout is a terminal and NO_COLOR is not set. */
export function colorize(terminal: Terminal, tone: Tone, text: string): string {
  const plain = terminal.stdout.isTTY !== true || (terminal.environment["NO_COLOR"] ?? "") !== "";
  return plain ? text : styleText(formats[tone], text);
}
