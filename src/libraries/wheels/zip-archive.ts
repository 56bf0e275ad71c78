/**
 * Reads ZIP archives of strangers: the list of their entries, and single entries (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT). Refused are ZIP64, encryption, several volumes, and
 * entries whose names lead out of a folder.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { checkEntryName, entryKey } from "../../models/aimod/entry-name.ts";
import { withDiskErrors } from "../../storage/disk.ts";

/** A file in an archive. */
export interface ZipEntry {
  /** Relative path with slashes, which stays inside of the folder that it is unpacked to. */
  readonly path: string;
  /** Size in bytes as the archive states it. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly crc: number;
  readonly isCompressed: boolean;
  /** Position of its local header. */
  readonly position: number;
}

/** Size and digest of an entry that was written. */
export interface ExtractedFile {
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly sha256: string;
}

/** The largest known wheel with a plugin has 60 entries. */
const maxEntries = 10_000;
/** Bytes of the list of entries. */
const maxListBytes = 4 << 20;
/** Largest entry. The largest known plugin has 0.7 GB. */
const maxEntryBytes = 2 * 1024 ** 3;
/** Largest ratio of an entry above `minBytesForRatio`: machine code shrinks to a third. */
const maxRatio = 30;
const minBytesForRatio = 16 << 20;

const pieceBytes = 1 << 20;
const endRecordBytes = 22;
const maxCommentBytes = 0xffff;
const localHeaderBytes = 30;
const listedHeaderBytes = 46;
const signatures = { end: 0x06054b50, listed: 0x02014b50, local: 0x04034b50 } as const;
const unset32 = 0xffffffff;

/** An archive that is open for reading. The caller closes it. */
export class ZipArchive {
  readonly #file: FileHandle;
  /** The archive in messages. */
  readonly #name: string;
  readonly #size: number;
  readonly entries: readonly ZipEntry[];

  private constructor(file: FileHandle, name: string, size: number, entries: readonly ZipEntry[]) {
    this.#file = file;
    this.#name = name;
    this.#size = size;
    this.entries = entries;
  }

  /** Opens an archive and reads its list. Throws INPUT_INVALID for a file that is missing, damaged, no archive or refused, and LIMIT_EXCEEDED. */
  static async open(path: string, name: string = path): Promise<ZipArchive> {
    let file: FileHandle;
    try {
      file = await open(path, "r");
    } catch (error) {
      throw new InferyardError("INPUT_INVALID", `${name} cannot be read: ${getMessage(error)}`, {
        remedy: "check the path",
        cause: error,
      });
    }
    try {
      const status = await file.stat();
      if (!status.isFile()) throw invalid(name, "it is no regular file");
      return new ZipArchive(file, name, status.size, await readList(file, name, status.size));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** The content of a small entry. Throws INPUT_INVALID for a damaged one and LIMIT_EXCEEDED for one above `maxBytes`. */
  async read(entry: ZipEntry, maxBytes: number): Promise<Buffer> {
    if (entry.bytes > maxBytes) throw exceeded(this.#name, `${entry.path} has ${entry.bytes} bytes, more than ${maxBytes}`);
    const chunks: Buffer[] = [];
    for await (const chunk of this.#content(entry)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /**
   * Writes an entry to a new file, and flushes it. `checkStart` gets the first bytes, and throws to stop before more is written. Throws INPUT_INVALID for a
   * damaged entry, LIMIT_EXCEEDED, DISK_FULL and OUTPUT_FAILED; data written before an error is kept.
   */
  async extract(entry: ZipEntry, target: string, checkStart: (start: Buffer) => void = () => undefined): Promise<ExtractedFile> {
    const hash = createHash("sha256");
    const output = await withDiskErrors(target, () => open(target, "wx", 0o644));
    try {
      let bytes = 0;
      for await (const chunk of this.#content(entry)) {
        if (bytes === 0) checkStart(chunk);
        bytes += chunk.length;
        hash.update(chunk);
        await withDiskErrors(target, () => output.writeFile(chunk)); // at the position of the handle
      }
      await withDiskErrors(target, () => output.sync());
      return { bytes, sha256: hash.digest("hex") };
    } finally {
      await output.close();
    }
  }

  /** The content in pieces. Ends with an error where it is longer or shorter than stated, or its checksum is another one. */
  async *#content(entry: ZipEntry): AsyncGenerator<Buffer> {
    const { path, bytes, compressedBytes } = entry;
    if (bytes > maxEntryBytes) throw exceeded(this.#name, `${path} has ${bytes} bytes, more than ${maxEntryBytes}`);
    if (bytes > minBytesForRatio && bytes > compressedBytes * maxRatio)
      throw exceeded(
        this.#name,
        `${path} would grow ${Math.floor(bytes / Math.max(1, compressedBytes))} times, more than ${maxRatio}`,
      );
    const start = await this.#getStart(entry);
    if (start + compressedBytes > this.#size) throw invalid(this.#name, `${path} reaches past the end of the file`);
    const stored = Readable.from(this.#pieces(start, compressedBytes), { objectMode: false });
    const content = entry.isCompressed ? stored.pipe(createInflateRaw({ chunkSize: pieceBytes })) : stored;
    if (content !== stored) stored.on("error", (error) => content.destroy(error));
    let [read, crc] = [0, 0];
    try {
      if (compressedBytes > 0)
        for await (const chunk of content as AsyncIterable<Buffer>) {
          read += chunk.length;
          if (read > bytes) throw invalid(this.#name, `${path} is longer than the ${bytes} bytes that the archive states`);
          crc = crc32(chunk, crc);
          yield chunk;
        }
    } catch (error) {
      throw error instanceof InferyardError
        ? error
        : invalid(this.#name, `${path} cannot be unpacked: ${getMessage(error)}`, error);
    } finally {
      stored.destroy();
      content.destroy();
    }
    if (read !== bytes) throw invalid(this.#name, `${path} has ${read} bytes, and the archive states ${bytes}`);
    if (crc !== entry.crc) throw invalid(this.#name, `the checksum of ${path} is another one than the archive states`);
  }

  /** Bytes of the file. */
  async *#pieces(start: number, length: number): AsyncGenerator<Buffer> {
    for (let done = 0; done < length; done += pieceBytes)
      yield await readAt(this.#file, this.#name, start + done, Math.min(pieceBytes, length - done));
  }

  /** Position of the content: after the local header, which must name the same entry. */
  async #getStart({ path, position }: ZipEntry): Promise<number> {
    const header = await readAt(this.#file, this.#name, position, localHeaderBytes);
    if (header.readUInt32LE(0) !== signatures.local) throw invalid(this.#name, `${path} has no header of its own`);
    const nameBytes = header.readUInt16LE(26);
    const name = await readAt(this.#file, this.#name, position + localHeaderBytes, nameBytes);
    if (checkEntryName(name.toString("utf8")).path !== path)
      throw invalid(this.#name, `${path} has another name in its own header`);
    return position + localHeaderBytes + nameBytes + header.readUInt16LE(28);
  }
}

async function readList(file: FileHandle, name: string, size: number): Promise<readonly ZipEntry[]> {
  const tailBytes = Math.min(size, endRecordBytes + maxCommentBytes);
  const tail = await readAt(file, name, size - tailBytes, tailBytes);
  const end = endRecordIn(tail);
  if (end === undefined) throw invalid(name, "it is no ZIP archive, or cut off: it has no record of its end");
  const [disk, count, bytes, position] = [end.readUInt16LE(4), end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  if (disk !== 0 || end.readUInt16LE(8) !== count) throw invalid(name, "it has several volumes");
  if (count === 0xffff || bytes === unset32 || position === unset32)
    throw invalid(name, "it is a ZIP64 archive, which is not read");
  if (count > maxEntries || bytes > maxListBytes)
    throw exceeded(name, `it has ${count} entries in ${bytes} bytes, more than ${maxEntries} in ${maxListBytes}`);
  const list = await readAt(file, name, position, bytes);
  const entries: ZipEntry[] = [];
  const seen = new Set<string>();
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + listedHeaderBytes > list.length || list.readUInt32LE(at) !== signatures.listed)
      throw invalid(name, `its list ends before entry ${index + 1} of ${count}`);
    const [nameBytes, extraBytes, commentBytes] = [
      list.readUInt16LE(at + 28),
      list.readUInt16LE(at + 30),
      list.readUInt16LE(at + 32),
    ];
    const next = at + listedHeaderBytes + nameBytes + extraBytes + commentBytes;
    if (next > list.length) throw invalid(name, `its list ends within entry ${index + 1} of ${count}`);
    const entry = readEntry(list.subarray(at, next), nameBytes, name);
    if (entry !== undefined && seen.has(entryKey(entry.path))) throw invalid(name, `it has the entry ${entry.path} twice`);
    if (entry !== undefined) entries.push(entry);
    if (entry !== undefined) seen.add(entryKey(entry.path));
    at = next;
  }
  return entries;
}

/** The last record of the end whose comment reaches exactly to the end of the file. */
function endRecordIn(tail: Buffer): Buffer | undefined {
  for (let at = tail.length - endRecordBytes; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) === signatures.end && at + endRecordBytes + tail.readUInt16LE(at + 20) === tail.length)
      return tail.subarray(at, at + endRecordBytes);
  }
  return undefined;
}

/** An entry of the list; undefined for a folder. */
function readEntry(header: Buffer, nameBytes: number, archive: string): ZipEntry | undefined {
  const text = header.toString("utf8", listedHeaderBytes, listedHeaderBytes + nameBytes);
  const { path, refusal } = checkEntryName(text);
  if (path === undefined) throw invalid(archive, `the entry ${JSON.stringify(text)} ${refusal}`);
  if (text.endsWith("/")) return undefined;
  const [flags, method, crc] = [header.readUInt16LE(8), header.readUInt16LE(10), header.readUInt32LE(16)];
  const [compressedBytes, bytes, position] = [header.readUInt32LE(20), header.readUInt32LE(24), header.readUInt32LE(42)];
  if ((flags & 1) !== 0) throw invalid(archive, `the entry ${path} is encrypted`);
  if (method !== 0 && method !== 8)
    throw invalid(archive, `the entry ${path} has the compression method ${method}, and may have 0 or 8`);
  if (method === 0 && compressedBytes !== bytes) throw invalid(archive, `the entry ${path} is stored, and has two sizes`);
  if ([compressedBytes, bytes, position].includes(unset32)) throw invalid(archive, "it is a ZIP64 archive, which is not read");
  const kind = (header.readUInt16LE(40) >> 12) & 0xf; // file type of Unix, in the upper half of the external attributes
  if (kind !== 0 && kind !== 8) throw invalid(archive, `the entry ${path} is no regular file`);
  return { path, bytes, compressedBytes, crc, isCompressed: method === 8, position };
}

async function readAt(file: FileHandle, name: string, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) throw invalid(name, "it is cut off");
  return buffer;
}

function invalid(name: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("INPUT_INVALID", `${name} is not a whole wheel: ${problem}`, {
    remedy: "download or build it again",
    ...omitUndefined({ cause }),
  });
}

function exceeded(name: string, problem: string): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `${name} is not unpacked: ${problem}`, { remedy: "check that it is the package" });
}
