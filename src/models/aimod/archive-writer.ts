/** Writes reproducible tar archives: their bytes depend on the names and contents of the files only, not on times, owners or permissions. */
import { Header, Pax } from "tar";
import { modelInvalid, unreadable } from "../../formats/format-errors.ts";
import { readChunks } from "../../platform/node/read-chunks.ts";

/** A file to be written to a tar archive. */
export interface ArchiveFile {
  /** Relative path with slashes. */
  readonly name: string;
  /** Bytes of the file. */
  readonly size: number;
  /** The content, or the absolute path of the file with the content. */
  readonly content: Buffer | string;
}

const blockBytes = 512;

/** Fixed header fields, so that a header depends only on the name and size. */
const fields = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), uname: "", gname: "" } as const;

/**
 * The bytes of a tar archive of these files, in chunks. The same files give the same bytes: headers have fixed owners, modes and
 * times. Throws MODEL_INVALID if a file cannot be read or its size has changed.
 */
export async function* toArchive(files: readonly ArchiveFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    yield getHeader(file);
    let size = 0;
    for await (const chunk of getContent(file)) {
      size += chunk.length;
      if (size <= file.size) yield chunk;
    }
    if (size !== file.size)
      throw modelInvalid(`${file.name} changed while it was packed`, "wait until it has been written, and try again");
    yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  }
  yield Buffer.alloc(2 * blockBytes); // end marker
}

/** The header of an entry; for long names and sizes above 8 GiB with a pax header before it (POSIX.1-2001). */
function getHeader({ name, size }: ArchiveFile): Buffer {
  const header = new Header({ ...fields, path: name, size, type: "File" });
  const block = Buffer.alloc(blockBytes);
  const needsMore = header.encode(block, 0);
  return needsMore ? Buffer.concat([new Pax({ ...fields, path: name, size }).encode(), block]) : block;
}

async function* getContent({ name, content }: ArchiveFile): AsyncGenerator<Buffer> {
  if (typeof content !== "string") {
    yield content;
    return;
  }
  try {
    yield* readChunks(content);
  } catch (error) {
    throw unreadable(name, error);
  }
}
