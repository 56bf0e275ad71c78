/**
 * Files, as the readers of models and the engines see them. The one place below them that touches the file system, so that a browser,
 * which has none, needs one other module in its place (src/platform/browser/files.ts).
 */
import { createHash } from "node:crypto";
import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

export interface FileStatus {
  /** Bytes. */
  readonly size: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** A file open for reading. */
export interface OpenFile {
  stat(): Promise<FileStatus>;
  /** Reads at most `length` bytes from `position` on into `target` at `offset`. 0 bytes read: the file ends there. */
  read(target: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
}

/**
 * All of these throw as Node.js does: an error whose `code` says ENOENT, EISDIR, EACCES, ...; EINVAL for what is there and is no regular file
 * (a pipe, a device), and EFBIG for a text that is too large. None of them waits for the other end of a pipe.
 */
export function openFile(path: string): Promise<OpenFile> {
  return openRegular(path);
}

/** Without O_NONBLOCK, which Windows does not have, a pipe would be waited for (open(2)); a regular file is read the same with it. */
const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** Larger than the largest tokenizer.json by a factor of five. */
const maxTextBytes = 256 * 1024 * 1024;

async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, readFlags);
  try {
    refuseIrregular(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function refuseIrregular(path: string, status: Stats): void {
  if (status.isFile()) return;
  const isFolder = status.isDirectory();
  const message = `${path} is ${isFolder ? "a folder" : "no regular file"}, and a file was expected`;
  throw Object.assign(new Error(message), { code: isFolder ? "EISDIR" : "EINVAL" });
}

/** A file open for reading that holds the thread while it is read. */
export interface BlockingFile {
  /** `identity`: the same text only as long as nobody writes to the file or puts another in its place. */
  stat(): Pick<FileStatus, "size" | "mtimeMs"> & {
    readonly identity: string;
    /** When anything of it was last changed. */ readonly ctimeMs: number;
  };
  /** As that of `OpenFile`; gives the bytes read. */
  read(target: Uint8Array, offset: number, length: number, position: number): number;
  close(): void;
}

/** For those that read many pieces and have a thread of their own. undefined where files can only be waited for: in a page. */
export const openBlocking: ((path: string) => BlockingFile) | undefined = (path) => {
  const file = openSync(path, readFlags);
  try {
    refuseIrregular(path, fstatSync(file));
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    stat: () => {
      const { size, mtimeMs, ctimeMs, dev, ino } = fstatSync(file);
      return { size, mtimeMs, ctimeMs, identity: [dev, ino, size, mtimeMs, ctimeMs].join(" ") };
    },
    read: (target, offset, length, position) => readSync(file, target, offset, length, position),
    close: () => closeSync(file),
  };
};

export async function readText(path: string): Promise<string> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    if (size > maxTextBytes)
      throw Object.assign(new Error(`it has ${size} bytes, and a text may have ${maxTextBytes}`), { code: "EFBIG" });
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

export function fileStatus(path: string): Promise<FileStatus> {
  return stat(path);
}

export function listFolder(path: string): Promise<FolderEntry[]> {
  return readdir(path, { withFileTypes: true });
}

/** Hexadecimal SHA-256 of a file, read as a stream. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await openRegular(path);
  await pipeline(file.createReadStream({ highWaterMark: 1024 * 1024 }), hash); // which closes the file
  return hash.digest("hex");
}
