/** Where a command's documents come from: whole files, texts, or stdin. Nothing is changed in them, ends of lines and byte order marks included. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { InferyardError, messageOf } from "../../errors.ts";
import type { Terminal } from "../terminal.ts";
import { readTexts } from "./texts.ts";

export interface Document {
  /** Its path as given, or undefined for a text. */
  readonly path?: string;
  readonly text: string;
}

export interface DocumentSource {
  /** Each a file, "-" for stdin, or a text. */
  readonly args: readonly string[];
  /** A file, .jsonl and .ndjson with a text per line. */
  readonly input?: string;
}

/** All documents, in order. Stdin is read when nothing else is given and nobody types there. */
export async function readDocuments({ args, input }: DocumentSource, terminal: Terminal): Promise<Document[]> {
  if (args.length > 0 && input !== undefined) {
    throw new InferyardError("INPUT_INVALID", "documents were given both as arguments and with --input", {
      remedy: "leave one of the two out",
    });
  }
  if (input !== undefined && /\.(jsonl|ndjson)$/.test(input)) {
    return (await readTexts({ texts: [], input }, terminal)).map((text) => ({ text }));
  }
  const given = input === undefined ? args : [input];
  if (given.length === 0 && terminal.stdin.isTTY === true) {
    throw new InferyardError("INPUT_INVALID", "there is no document", {
      remedy: "inferyard chunk FILE, or pipe a document in",
    });
  }
  const documents: Document[] = [];
  for (const argument of given.length === 0 ? ["-"] : given) {
    documents.push(await readDocument(argument, input !== undefined, terminal));
  }
  return documents;
}

/** An argument that names a file is the file; another is a text if it has a space in it, since a name of one word may be mistyped. */
async function readDocument(argument: string, isFile: boolean, terminal: Terminal): Promise<Document> {
  if (argument === "-") return { path: "stdin", text: decode(await readAll(terminal.stdin), "stdin") };
  const path = resolve(terminal.directory, argument);
  if (!isFile && /\s/.test(argument) && !(await isThere(path))) return { text: argument };
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${argument} cannot be read: ${messageOf(error)}`, {
      remedy: "give a file; a text of one word is taken from stdin",
      cause: error,
    });
  }
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
