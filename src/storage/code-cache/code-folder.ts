/**
 * A folder of compiled code, one file for each key. Several processes use it at once without a lock: files appear by one rename, are checked when they are
 * read, and are never changed. Where the folder cannot be used, code is compiled at each start, and `problem` says why.
 */
import {
  type Stats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { isTrusted, makeOwnFolder, removeIfThere } from "../own-files.ts";
import { isAbandoned, stagingName, sweepAbandoned } from "../staging.ts";
import { type CodeFormat, type StoredCode, decodeCode, encodeHead, headBytes, readDescription, readHead } from "./code-file.ts";

/** A file of the folder. */
export interface CodeFileStatus {
  readonly path: string;
  readonly key: string;
  readonly bytes: number;
  /** Time of the last use, in milliseconds since 1970. */
  readonly usedMs: number;
}

/** A file of the folder and its content. */
export interface ListedCode<Description> extends CodeFileStatus {
  /** Description of the code; undefined for a damaged file, which is removed when its code is needed. */
  readonly description: Description | undefined;
}

/** Where a folder is and how much it holds. */
export interface CodeFolderSettings {
  /** An absolute path. */
  readonly path: string;
  /** Bytes of all files together, above which the least recently used are removed; 0: the folder is not used. */
  readonly maxBytes: number;
  /** Name of the setting that is 0, for `problem`. */
  readonly setting: string;
}

/** How code is loaded in parts. */
export interface PartsLoader<Description, Result> {
  load(code: Pick<StoredCode<Description>, "description">, read: (target: Uint8Array) => void): Result;
  discard(result: Result): void;
  /** Default: nobody is told. */
  refused?(reason: string): void;
}

/** Compiled code that this user's processes share. No method throws if the folder or its files are damaged. */
export class CodeFolder<Description> {
  readonly path: string;
  readonly #format: CodeFormat<Description>;
  readonly #maxBytes: number;
  #problem: string | undefined;

  private constructor(format: CodeFormat<Description>, path: string, maxBytes: number, problem: string | undefined) {
    this.#format = format;
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#problem = problem;
  }

  /** Opens or creates the folder, and removes unfinished files of killed processes. */
  static async open<Description>(
    format: CodeFormat<Description>,
    { path, maxBytes, setting }: CodeFolderSettings,
  ): Promise<CodeFolder<Description>> {
    const problem = maxBytes === 0 ? `${setting} is 0` : prepare(path);
    if (problem === undefined) {
      removeFatal(path);
      await sweepAbandoned(path).catch(() => 0); // a folder that can only be read
    }
    return new CodeFolder(format, path, maxBytes, problem);
  }

  /** The folder as it is, for lists and removals: nothing is created. */
  static at<Description>(format: CodeFormat<Description>, path: string): CodeFolder<Description> {
    return new CodeFolder(format, path, 0, undefined);
  }

  /** Why code is not kept, as a clause; undefined as long as nothing failed. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Returns the result of `load` for the code with this key; undefined if there is none, or if `load` throws. A file is removed if it is damaged, if other
   * users could have written it, or if `load` refuses it; a file that ended the process is removed when the folder is opened the next time. Throws
   * OUT_OF_MEMORY of `load`.
   */
  load<Result>(key: string, load: (code: StoredCode<Description>) => Result): Result | undefined {
    const code = this.#problem === undefined ? this.#read(key) : undefined;
    if (code === undefined) return undefined;
    const mark = `${this.#getPath(key)}${stagingName("loading")}`;
    touch(mark);
    try {
      return load(code);
    } catch (error) {
      if (error instanceof InferyardError && error.code === "OUT_OF_MEMORY") throw error;
      this.remove(key);
      return undefined;
    } finally {
      removeIfThere(mark);
    }
  }

  /**
   * As `load`, for large code, which `load` reads where it needs it: `read` fills `target` with the next bytes of the executable. The digest is checked when all of it is
   * read; until then nothing may be trusted. What `load` returned is given to `discard` where the digest is wrong or bytes are left. `refused` is told why a file that is there was
   * not used, as a clause. Nothing marks the file while it is read.
   */
  loadParts<Result>(key: string, { load, discard, refused }: PartsLoader<Description, Result>): Result | undefined {
    if (this.#problem !== undefined) return undefined;
    const path = this.#getPath(key);
    let file: number | undefined;
    try {
      file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    } catch {
      return undefined;
    }
    try {
      const result = this.#loadOpen(file, key, { load, discard });
      markUsed(path);
      return result;
    } catch (error) {
      if (error instanceof InferyardError && error.code === "OUT_OF_MEMORY") throw error;
      this.remove(key);
      refused?.(getMessage(error));
      return undefined;
    } finally {
      closeSync(file);
    }
  }

  #loadOpen<Result>(file: number, key: string, { load, discard }: PartsLoader<Description, Result>): Result {
    const status = fstatSync(file);
    if (!isTrustedFile(status)) throw new Error("other users could have written the file");
    const first = new Uint8Array(Math.min(headBytes, status.size));
    readFully(file, first, 0);
    const head = readHead(this.#format, first, { key, fileBytes: status.size });
    if (head === undefined) throw new Error("the file is damaged");
    const hash = head.startDigest();
    let done = 0;
    const result = load(head, (target) => {
      if (done + target.length > head.bytes) throw new RangeError("the file ends early");
      readFully(file, target, head.start + done);
      hash.update(target);
      done += target.length;
    });
    if (done === head.bytes && hash.digest().equals(head.digest)) return result;
    discard(result);
    throw new Error("the file is damaged");
  }

  #read(key: string): StoredCode<Description> | undefined {
    const path = this.#getPath(key);
    let bytes: Uint8Array;
    try {
      if (!isTrustedFile(lstatSync(path))) {
        removeIfThere(path);
        return undefined;
      }
      bytes = readFileSync(path);
    } catch {
      return undefined;
    }
    const code = decodeCode(this.#format, bytes, key);
    if (code === undefined) removeIfThere(path);
    else markUsed(path);
    return code;
  }

  /** Keeps code, and removes the least recently used ones above the maximum of bytes. */
  write({ executable, ...code }: StoredCode<Description>): void {
    this.writeParts(code, [executable]);
  }

  /** As `write`, for an executable that consists of these parts. Returns whether it is kept. */
  writeParts(code: Pick<StoredCode<Description>, "key" | "description">, executable: readonly Uint8Array[]): boolean {
    if (this.#problem !== undefined) return false;
    const parts = [encodeHead(this.#format, code, executable), ...executable];
    if (parts.reduce((sum, { length }) => sum + length, 0) > this.#maxBytes) return false;
    const path = this.#getPath(code.key);
    const temporary = `${path}${stagingName("writing")}`;
    try {
      // Not flushed: after a loss of power the digest tells a damaged file.
      const file = openSync(temporary, "wx", 0o600);
      try {
        for (const part of parts) writeFileSync(file, part);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, path);
    } catch (error) {
      removeIfThere(temporary);
      this.#problem = getMessage(error);
      return false;
    }
    this.#removeAbove(this.#maxBytes);
    return true;
  }

  /** Removes the code with this key. Returns whether it is gone. */
  remove(key: string): boolean {
    return removeIfThere(this.#getPath(key));
  }

  /** The files, the most recently used first. Empty if the folder cannot be read. */
  files(): readonly CodeFileStatus[] {
    return namesIn(this.path, this.#format)
      .flatMap((name) => {
        const path = join(this.path, name);
        try {
          const { size, mtimeMs } = lstatSync(path);
          return [{ path, key: name.slice(0, 64), bytes: size, usedMs: mtimeMs }];
        } catch {
          return []; // another process removed it
        }
      })
      .toSorted((a, b) => b.usedMs - a.usedMs);
  }

  /** The files with their descriptions, the most recently used first. Executables are neither read nor checked. */
  list(): readonly ListedCode<Description>[] {
    return this.files().map((file) => ({ ...file, description: descriptionIn(file.path, this.#format) }));
  }

  #getPath(key: string): string {
    return join(this.path, `${key}.${this.#format.extension}`);
  }

  #removeAbove(maxBytes: number): void {
    let sum = 0;
    for (const { path, bytes } of this.files()) {
      sum += bytes;
      if (sum > maxBytes) removeIfThere(path);
    }
  }
}

/** Creates the folder where it is missing. Returns why it cannot be used, or undefined. */
function prepare(path: string): string | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
    makeOwnFolder(path);
    const status = lstatSync(path);
    if (!status.isDirectory()) return `${path} is no folder`;
    return isTrusted(status) ? undefined : `${path} belongs to another user or can be written by others`;
  } catch (error) {
    return getMessage(error);
  }
}

/** Fills `target` with the bytes of a file from `position` on. */
function readFully(file: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length;) {
    const bytes = readSync(file, target, done, target.length - done, position + done);
    if (bytes === 0) throw new RangeError("the file ends early");
    done += bytes;
  }
}

function isTrustedFile(status: Stats): boolean {
  return status.isFile() && isTrusted(status);
}

/** A mark that a process loads code, which follows the name of the file. */
const loadingName = /^([0-9a-f]{64}\.[a-z]+)\.loading-/;

/** Removes code whose process ended while it loaded it. */
function removeFatal(path: string): void {
  try {
    for (const name of readdirSync(path)) {
      const code = loadingName.exec(name)?.[1];
      if (code !== undefined && isAbandoned(name)) removeIfThere(join(path, code));
    }
  } catch {
    // no folder that can be read
  }
}

function touch(path: string): void {
  try {
    writeFileSync(path, "", { flag: "wx", mode: 0o600 });
  } catch {
    // the folder can only be read
  }
}

/** The modification time is the time of the last use. */
function markUsed(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // the folder can only be read
  }
}

function descriptionIn<Description>(path: string, format: CodeFormat<Description>): Description | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = new Uint8Array(headBytes);
      return readDescription(format, bytes.subarray(0, readSync(file, bytes)));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // another process removed it
  }
}

function namesIn(path: string, { extension }: CodeFormat<unknown>): readonly string[] {
  try {
    return readdirSync(path).filter((name) => /^[0-9a-f]{64}$/.test(name.slice(0, 64)) && name.slice(64) === `.${extension}`);
  } catch {
    return []; // there is no folder
  }
}
