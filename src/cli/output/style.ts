/** Colour as decoration: only on a terminal, never with NO_COLOR. */
import { styleText } from "node:util";
import type { Terminal } from "../terminal.ts";

export type Tone = "good" | "bad" | "quiet";

const formats = { good: "green", bad: "red", quiet: "dim" } as const;

export function colorize(terminal: Terminal, tone: Tone, text: string): string {
  const plain = terminal.stdout.isTTY !== true || (terminal.environment["NO_COLOR"] ?? "") !== "";
  return plain ? text : styleText(formats[tone], text);
}
