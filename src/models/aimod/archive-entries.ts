/**
 * The entries of a tar archive, one after the other, read by the `tar` package (node-tar). Its strict mode makes every warning an error;
 * what it would pass over (sparse files, types it does not know, metadata above its limit) is an error here too.
 */
import { once } from "node:events";
import { Parser, type ReadEntry } from "tar";

export interface ArchiveEntry {
  readonly name: string;
  /** Anything else than "file" and "folder" is the archive's own word for it: "SymbolicLink", "CharacterDevice", ... */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** To be read to its end, once. */
  readonly content: AsyncIterable<Uint8Array>;
}

const types: Readonly<Record<string, string>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "folder",
};

/** The archive is not what it should be; the message completes the sentence "the package ...". */
export class ArchiveError extends Error {}

/**
 * Calls `visit` for every entry in order and waits for it. Throws what `visit` throws, ArchiveProblem for a damaged archive or one that
 * ends before its end marker, and then reads no further.
 */
export async function readEntries(tar: AsyncIterable<Uint8Array>, visit: (entry: ArchiveEntry) => Promise<void>): Promise<void> {
  const parser = new Parser({ strict: true });
  const failure = new AbortController();
  const fail = (error: unknown): void => failure.abort(error);
  let sawEnd = false;
  const { signal } = failure;
  let latest: ReadEntry | undefined;
  let visits: Promise<void> = Promise.resolve();
  parser.on("entry", (entry: ReadEntry) => {
    latest = entry;
    visits = visits.then(() => (signal.aborted ? undefined : visit(entryOf(entry)))).catch(fail);
  });
  parser.on("ignoredEntry", ({ path, type }: ReadEntry) => fail(new ArchiveError(`holds "${path}" as ${nameOf(type)}`)));
  parser.on("meta", (text: string) => {
    if (/ GNU\.sparse\./.test(text)) fail(new ArchiveError(`holds ${nameOf("SparseFile")}`));
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
    await visits;
    signal.throwIfAborted();
  } catch (error) {
    fail(error); // unless something failed before: then that is the reason
    latest?.end(); // its visit would wait for content that does not come
    await visits;
    throw signal.reason;
  }
  if (!sawEnd) throw new ArchiveError("ends before the end of its archive");
}

function entryOf(entry: ReadEntry): ArchiveEntry {
  return { name: entry.path, type: types[entry.type] ?? nameOf(entry.type), size: entry.size, content: entry };
}

/** GNU tar's `--sparse` and Rust's tar leave holes out; the rest alone would be another file. */
function nameOf(type: string): string {
  return type === "SparseFile" ? "a sparse file (with its holes left out)" : type;
}
