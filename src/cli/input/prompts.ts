/** Prompts of a command: from arguments, a file, or the whole of stdin as one. */
import { invalidInput } from "../../contract/errors.ts";
import type { Terminal } from "../terminal.ts";
import { type TextSource, readTexts } from "./texts.ts";

/** Reads all prompts in order. Stdin is read as one prompt if nothing else is given and it is not a terminal. Throws INPUT_INVALID. */
export async function readPrompts(source: TextSource, terminal: Terminal): Promise<string[]> {
  if (source.texts.length > 0 || source.input !== undefined) return readTexts(source, terminal);
  if (terminal.stdin.isTTY === true) {
    throw invalidInput("there is no text", "give one as argument, --input FILE, or pipe it in");
  }
  const parts: Uint8Array[] = [];
  for await (const part of terminal.stdin) parts.push(typeof part === "string" ? new TextEncoder().encode(part) : part);
  return [new TextDecoder().decode(Buffer.concat(parts)).replace(/\r?\n$/, "")];
}
