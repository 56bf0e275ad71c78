/** Documents of a command: whole files, texts or stdin, unchanged, including line endings and byte order marks. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import type { Terminal } from "../terminal.ts";
import { readTexts } from "./texts.ts";
import { readGivenFile } from "./given-file.ts";

/** An input document. */
export interface DocumentInput {
  /** Its path as given; undefined for a text argument. */
  readonly path?: string;
  readonly text: string;
}

/** Sources of documents: arguments and a file. */
export interface DocumentSource {
  /** Arguments, each a file, "-" for stdin, or a text. */
  readonly args: readonly string[];
  /** A file; .jsonl and .ndjson have one text per line. */
  readonly input?: string;
}

/** Reads all documents in order. Stdin is read if nothing else is given and it is not a terminal. Throws INPUT_INVALID. */
export async function readDocuments({ args, input }: DocumentSource, terminal: Terminal): Promise<DocumentInput[]> {
  if (args.length > 0 && input !== undefined) {
    throw invalidInput("documents were given both as arguments and with --input", "leave one of the two out");
  }
  if (input !== undefined && /\.(jsonl|ndjson)$/.test(input)) {
    return (await readTexts({ texts: [], input }, terminal)).map((text) => ({ text }));
  }
  const given = input === undefined ? args : [input];
  if (given.length === 0 && terminal.stdin.isTTY === true) {
    throw invalidInput("there is no document", "inferyard chunk FILE, or pipe a document in");
  }
  const documents: DocumentInput[] = [];
  for (const argument of given.length === 0 ? ["-"] : given) {
    documents.push(await readDocument(argument, input !== undefined, terminal));
  }
  return documents;
}

/**
 * An argument that names a file is that file; any other is a text if it contains white space, since a single word may be a mistyped file name.
 */
async function readDocument(argument: string, isFile: boolean, terminal: Terminal): Promise<DocumentInput> {
  if (argument === "-") return { path: "stdin", text: decode(await readAll(terminal.stdin), "stdin") };
  const path = resolve(terminal.directory, argument);
  if (!isFile && /\s/.test(argument) && !(await isThere(path))) return { text: argument };
  const bytes = await readGivenFile(path, "give a file; a text of one word is taken from stdin", argument);
  return { path: argument, text: decode(bytes, argument) };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false; // whatever is wrong with it, there is no file to read: the argument is a text
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(typeof part === "string" ? Buffer.from(part) : part);
  return Buffer.concat(parts);
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${name} is not UTF-8, so positions in it would mean nothing`, {
      remedy: "convert it to UTF-8 first",
      cause: error,
    });
  }
}
