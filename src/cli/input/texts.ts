/** Texts of a command: from arguments, a file or stdin. */
import { parseGivenJson } from "./given-file.ts";
import { createReadStream } from "node:fs";
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";
import { getLines } from "./lines.ts";
import type { Terminal } from "../terminal.ts";

/** Sources of texts: arguments, a file, or stdin. */
export interface TextSource {
  readonly texts: readonly string[];
  /** Value of --input: .txt has one text per line, .jsonl one string or object with `text` per line; "-" is stdin. */
  readonly input?: string;
}

/** Reads all texts in order. Stdin is read if nothing else is given and it is not a terminal. Throws INPUT_INVALID. */
export async function readTexts({ texts, input }: TextSource, terminal: Terminal): Promise<string[]> {
  if (texts.length > 0 && input !== undefined) {
    throw invalidInput("texts were given both as arguments and with --input", "leave one of the two out");
  }
  if (texts.length > 0) return [...texts];
  if (input !== undefined && input !== "-") return readFileLines(input);
  if (input === "-" || terminal.stdin.isTTY !== true) return readLines(terminal.stdin, "text", "stdin");
  throw invalidInput("there is no text", 'inferyard embed "a text", or --input FILE, or pipe lines in');
}

async function readFileLines(path: string): Promise<string[]> {
  const format = path.endsWith(".jsonl") || path.endsWith(".ndjson") ? "json" : "text";
  try {
    return await readLines(createReadStream(path), format, path);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${getMessage(error)}`, { cause: error });
  }
}

async function readLines(stream: NodeJS.ReadableStream, format: "text" | "json", name: string): Promise<string[]> {
  const texts: string[] = [];
  let number = 0;
  for await (const line of getLines(stream)) {
    number += 1;
    if (format === "text") texts.push(line);
    else if (line.trim() !== "") texts.push(toText(line, `${name} line ${number}`));
  }
  return texts;
}

function toText(line: string, place: string): string {
  const value = parseGivenJson(line, place);
  const text = typeof value === "object" && value !== null && "text" in value ? value.text : value;
  if (typeof text === "string") return text;
  throw invalidInput(`${place} is neither a string nor an object with a string "text"`);
}
