/** File access for the readers of models and the engines, in Node.js. A browser uses src/platform/browser/files.ts instead. */
import { createHash } from "node:crypto";
import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";

/** Size, modification time and kind of a file. */
export interface FileStatus {
  /** Size in bytes. */
  readonly size: number;
  /** Modification time in milliseconds since 1970. */
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** A file open for reading. */
export interface OpenFile {
  stat(): Promise<FileStatus>;
  /** Reads at most `length` bytes at `position` of the file into `target` at `offset`. 0 bytes read: end of file. */
  read(target: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  isDirectory(): boolean;
}

/**
 * Opens a regular file. This and the following functions throw errors of Node.js, whose `code` is ENOENT, EISDIR, EACCES, ...; EINVAL for other kinds of files
 * (a pipe, a device), and EFBIG for a text that is too large. None of them waits for the other end of a pipe.
 */
export function openFile(path: string): Promise<OpenFile> {
  return openRegular(path);
}

/** O_NONBLOCK (not available on Windows) keeps `open` from waiting for a pipe (open(2)); it does not affect regular files. */
const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** Maximum bytes of a text: five times the largest known tokenizer.json. */
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

/** A file open for synchronous reading. */
export interface BlockingFile {
  /** `identity`: changes when the file is written or replaced. */
  stat(): Pick<FileStatus, "size" | "mtimeMs"> & {
    readonly identity: string;
    /** When anything of it was last changed. */ readonly ctimeMs: number;
  };
  /** Like `OpenFile.read`, but returns the number of bytes read. */
  read(target: Uint8Array, offset: number, length: number, position: number): number;
  close(): void;
}

/** Opens a file for synchronous reading, for callers on a thread of their own. Undefined in a browser. */
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

/** Reads a UTF-8 file of at most 256 MiB. */
export async function readText(path: string): Promise<string> {
  return (await readWhole(path)).toString("utf8");
}

/** Reads a file of at most 256 MiB. */
export function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return readWhole(path);
}

async function readWhole(path: string): Promise<Buffer<ArrayBuffer>> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    if (size > maxTextBytes)
      throw Object.assign(new Error(`it has ${size} bytes, and a text may have ${maxTextBytes}`), { code: "EFBIG" });
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Size, kind and modification time of a file or folder. Throws errors of the file system. */
export function fileStatus(path: string): Promise<FileStatus> {
  return stat(path);
}

/** The entries of a folder, not of its subfolders. Throws errors of the file system. */
export function listFolder(path: string): Promise<FolderEntry[]> {
  return readdir(path, { withFileTypes: true });
}

/** Hexadecimal SHA-256 of a file, which is read in pieces of 1 MiB. */
export async function computeSha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafeSlow(1024 * 1024); // one for all: new ones for each read take as long as the hash
  const file = await openRegular(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
