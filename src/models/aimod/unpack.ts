/** Unpacks packages from untrusted sources into an empty folder. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { type Folder, readStart } from "../model-folder.ts";
import { modelInvalid, unreadable } from "../../formats/format-errors.ts";
import { type ArchiveEntry, ArchiveError, readEntries } from "./archive-entries.ts";
import type { ArchiveLimits } from "./archive-limits.ts";
import { readChunks } from "../../platform/node/read-chunks.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import { checkEntryName, entryKey } from "./entry-name.ts";
import { metadataName } from "./metadata-json.ts";

/** Digest and size of a package that was unpacked. */
export interface Unpacked {
  /** Hexadecimal digest of the package as it was read. */
  readonly sha256: string;
  /** Number of files. */
  readonly files: number;
  /** Bytes of the files. */
  readonly bytes: number;
}

/**
 * Unpacks `file` into the empty folder `target` and flushes every file. Throws MODEL_INVALID if the package is not a gzip-compressed tar archive, is cut off or
 * damaged, has entries other than files and folders inside the folder, has an entry twice, or exceeds a limit; DISK_FULL or OUTPUT_FAILED for errors of the file system. What
 * was written before an error stays; the caller removes the folder.
 */
export async function unpack(file: Folder, target: string, limits: ArchiveLimits): Promise<Unpacked> {
  await requireGzip(file);
  const hash = createHash("sha256");
  let compressed = 0;
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      hash.update(chunk);
      compressed += chunk.length;
      yield chunk;
    }
  };
  const contents = new ExtractionFolder(target, limits);
  const gunzip = createGunzip({ chunkSize });
  // An error of the pipeline destroys `gunzip`, so that the reading below throws it.
  const fed = Promise.allSettled([pipeline(readChunks(file.path, highWaterMark), count, gunzip)]);
  try {
    await readEntries(
      limitOutput(gunzip, limits, () => compressed),
      (entry) => contents.add(entry),
    );
  } catch (error) {
    throw asModelError(file, error);
  } finally {
    gunzip.destroy();
    await fed;
  }
  return { sha256: hash.digest("hex"), files: contents.files, bytes: contents.bytes };
}

/** Bytes read, and bytes decompressed, at a time. */
const highWaterMark = 1024 ** 2;
const chunkSize = 256 * 1024;

async function requireGzip({ path, displayName }: Folder): Promise<void> {
  if (gzipMagic.equals(await readStart(path, gzipMagic.length, displayName))) return;
  throw modelInvalid(
    `${displayName} is not a package: it is not compressed by gzip`,
    "download it again, or pack the model again",
  );
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);
const zstandardMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Bytes of a tar block. The parser needs one whole block to recognize the format of its input. */
const blockBytes = 512;

/**
 * Passes decompressed bytes on and throws ArchiveError at a limit. The first tar block is passed on in one piece and must not be compressed: the tar
 * parser would decompress a second layer by itself, and these limits would not count its bytes.
 */
async function* limitOutput(
  source: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  compressed: () => number,
): AsyncGenerator<Buffer> {
  let total = 0;
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of source) {
    total += chunk.length;
    if (total > limits.maxTotalBytes)
      throw new ArchiveError(`is larger than ${limits.maxTotalBytes} bytes once it is decompressed`);
    if (total > limits.minBytesForRatio && total > limits.maxRatio * compressed())
      throw new ArchiveError(`grows more than ${limits.maxRatio} times when it is decompressed, as no model does`);
    if (first === undefined) {
      yield chunk;
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < blockBytes) continue;
    refuseDoubleCompression(first);
    yield first;
    first = undefined;
  }
  if (first === undefined) return;
  refuseDoubleCompression(first);
  throw new ArchiveError("holds no archive");
}

function refuseDoubleCompression(start: Buffer): void {
  if ([gzipMagic, zstandardMagic].some((magic) => start.subarray(0, magic.length).equals(magic)))
    throw new ArchiveError("is compressed twice");
}

/** The folder that entries are written to. */
class ExtractionFolder {
  readonly #target: string;
  readonly #limits: ArchiveLimits;
  /** Entries so far, by `entryKey`. */
  readonly #known = new Map<string, "file" | "folder">();
  #entries = 0;
  files = 0;
  bytes = 0;

  constructor(target: string, limits: ArchiveLimits) {
    this.#target = target;
    this.#limits = limits;
  }

  async add(entry: ArchiveEntry): Promise<void> {
    this.#entries += 1;
    if (this.#entries > this.#limits.maxEntries) throw new ArchiveError(`holds more than ${this.#limits.maxEntries} files`);
    const { path, refusal } = checkEntryName(entry.name);
    if (refusal !== undefined) throw getProblem(entry, refusal);
    if (entry.type !== "file" && entry.type !== "folder")
      throw getProblem(entry, `is neither a file nor a folder (${entry.type})`);
    if (path === "" && entry.type === "file") throw getProblem(entry, "has no name");
    this.#claim(entry, path);
    const destination = join(this.#target, path);
    if (entry.type === "folder") {
      await withDiskErrors(destination, () => mkdir(destination, { recursive: true }));
      for await (const _ of entry.content); // a folder has no content; the parser continues after its end
      return;
    }
    this.#checkSize(entry, path);
    await withDiskErrors(destination, () => mkdir(dirname(destination), { recursive: true }));
    await writeEntry(destination, entry);
    this.files += 1;
    this.bytes += entry.size;
  }

  /** Throws ArchiveError if the name is taken, or if a file would be the folder of another entry. */
  #claim(entry: ArchiveEntry, path: string): void {
    const parts = path === "" ? [] : path.split("/");
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const key = entryKey(parts.slice(0, depth).join("/"));
      const type = depth === parts.length && entry.type === "file" ? "file" : "folder";
      const known = this.#known.get(key);
      if (known === "file" || (known !== undefined && type === "file"))
        throw getProblem(entry, "has the name of another entry, or one that differs in capitals or accents alone");
      this.#known.set(key, type);
    }
  }

  #checkSize(entry: ArchiveEntry, path: string): void {
    const { maxFileBytes, maxMetadataBytes } = this.#limits;
    const limit = path === metadataName ? maxMetadataBytes : maxFileBytes;
    if (entry.size > limit) throw getProblem(entry, `has ${entry.size} bytes, and ${limit} are allowed`);
  }
}

function getProblem({ name }: ArchiveEntry, refusal: string): ArchiveError {
  return new ArchiveError(`is refused: the entry ${JSON.stringify(name)} ${refusal}`);
}

async function writeEntry(destination: string, { content }: ArchiveEntry): Promise<void> {
  // "wx": never writes through an existing file or link.
  const handle = await withDiskErrors(destination, () => open(destination, "wx", 0o644));
  try {
    for await (const chunk of content) await withDiskErrors(destination, () => writeChunk(handle, chunk));
    await withDiskErrors(destination, () => handle.sync());
  } finally {
    await handle.close();
  }
}

async function writeChunk(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await handle.write(chunk, written)).bytesWritten;
}

function asModelError({ displayName }: Folder, error: unknown): InferyardError {
  if (error instanceof InferyardError) return error;
  const remedy = "download it again, or pack the model again";
  if (error instanceof ArchiveError) return modelInvalid(`the package ${displayName} ${error.message}`, remedy, error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return modelInvalid(`the package ${displayName} is cut off: ${getMessage(error)}`, remedy, error);
  if (code?.startsWith("Z_") === true)
    return modelInvalid(`the package ${displayName} is damaged: ${getMessage(error)}`, remedy, error);
  return unreadable(displayName, error);
}
