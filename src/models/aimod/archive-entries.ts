/**
 * Reads the entries of a tar archive in order, with the `tar` package (node-tar) in strict mode, in which every warning is an error. Entries that the package
 * would skip (sparse files, unknown types, metadata above its limit) are errors too.
 */
import { once } from "node:events";
import { Parser, type ReadEntry } from "tar";
import { Mutex } from "../../concurrency/mutex.ts";

/** One entry of a tar archive. */
export interface ArchiveEntry {
  readonly name: string;
  /** "file", "folder", or the name of another type in the `tar` package: "SymbolicLink", "CharacterDevice", ... */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** The content of a file. It must be read to its end, once. */
  readonly content: AsyncIterable<Uint8Array>;
}

const types: Readonly<Record<string, string>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "folder",
};

/** Thrown for an invalid archive. The message completes the sentence "the package ...". */
export class ArchiveError extends Error {}

/**
 * Reads a tar archive: calls `visit` for every entry in order, and waits for it. Throws errors of `visit`, and ArchiveError if the archive is damaged or ends
 * before its end marker. Nothing is read after an error.
 */
export async function readEntries(tar: AsyncIterable<Uint8Array>, visit: (entry: ArchiveEntry) => Promise<void>): Promise<void> {
  const parser = new Parser({ strict: true });
  const failure = new AbortController();
  const fail = (error: unknown): void => failure.abort(error);
  let sawEnd = false;
  const { signal } = failure;
  let latest: ReadEntry | undefined;
  const visits = new Mutex();
  let lastVisit: Promise<void> = Promise.resolve();
  parser.on("entry", (entry: ReadEntry) => {
    latest = entry;
    lastVisit = visits.runExclusive(async () => (signal.aborted ? undefined : await visit(getEntry(entry)))).catch(fail);
  });
  parser.on("ignoredEntry", ({ path, type }: ReadEntry) => fail(new ArchiveError(`holds "${path}" as ${getName(type)}`)));
  parser.on("meta", (text: string) => {
    if (/ GNU\.sparse\./.test(text)) fail(new ArchiveError(`holds ${getName("SparseFile")}`));
  });
  parser.on("eof", () => {
    sawEnd = true;
  });
  parser.on("error", (error: Error) => fail(new ArchiveError(`is damaged: ${error.message}`, { cause: error })));
  try {
    for await (const chunk of tar) {
      signal.throwIfAborted();
      if (!parser.write(chunk)) await once(parser, "drain", { signal });
    }
    const end = once(parser, "end", { signal });
    parser.end();
    await end;
    await lastVisit;
    signal.throwIfAborted();
  } catch (error) {
    fail(error); // keeps an earlier failure as the reason
    latest?.end(); // otherwise its visit would wait for content that never comes
    await lastVisit;
    throw signal.reason;
  }
  if (!sawEnd) throw new ArchiveError("ends before the end of its archive");
}

function getEntry(entry: ReadEntry): ArchiveEntry {
  return { name: entry.path, type: types[entry.type] ?? getName(entry.type), size: entry.size, content: entry };
}

/** Sparse files (GNU tar `--sparse`, Rust's tar) are stored without their holes, so that their data alone would be another file. */
function getName(type: string): string {
  return type === "SparseFile" ? "a sparse file (with its holes left out)" : type;
}
