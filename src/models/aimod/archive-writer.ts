/** Files as a tar archive whose bytes depend on their names and contents alone: no times, owners or permissions of this machine. */
import { createReadStream } from "node:fs";
import { Header, Pax } from "tar";
import { modelInvalid, unreadable } from "../../formats/format-errors.ts";

export interface ArchiveFile {
  /** Relative, with slashes. */
  readonly name: string;
  readonly size: number;
  /** The bytes themselves, or the absolute path of the file that holds them. */
  readonly content: Buffer | string;
}

const blockBytes = 512;

/** 1970, and readable by all: every field of a header is the same for the same name and size. */
const fields = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), uname: "", gname: "" } as const;

/** The archive in pieces. MODEL_INVALID for a file that cannot be read or does not have its size any more. */
export async function* archiveOf(files: readonly ArchiveFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    yield headerOf(file);
    let size = 0;
    for await (const chunk of contentOf(file)) {
      size += chunk.length;
      if (size <= file.size) yield chunk;
    }
    if (size !== file.size)
      throw modelInvalid(`${file.name} changed while it was packed`, "wait until it has been written, and try again");
    yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  }
  yield Buffer.alloc(2 * blockBytes); // the end of the archive
}

/** Long names and sizes above 8 GiB have a second header (POSIX.1-2001, "pax"). */
function headerOf({ name, size }: ArchiveFile): Buffer {
  const header = new Header({ ...fields, path: name, size, type: "File" });
  const block = Buffer.alloc(blockBytes);
  const needsMore = header.encode(block, 0);
  return needsMore ? Buffer.concat([new Pax({ ...fields, path: name, size }).encode(), block]) : block;
}

async function* contentOf({ name, content }: ArchiveFile): AsyncGenerator<Buffer> {
  if (typeof content !== "string") {
    yield content;
    return;
  }
  try {
    for await (const chunk of createReadStream(content, { highWaterMark: 1024 ** 2 })) yield chunk as Buffer;
  } catch (error) {
    throw unreadable(name, error);
  }
}
