/**
 * The folder of compiled programs, one file each. Several processes use it at once without a lock: files appear by one rename, are checked when they are
 * read, and are never changed. Where the folder cannot be used, programs are compiled at each start, and `problem` says why.
 */
import {
  type Stats,
  closeSync,
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
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import { dataFolder } from "../../../storage/data-folder.ts";
import { isTrusted, makeOwnFolder, removeIfThere } from "../../../storage/own-files.ts";
import { isAbandoned, stagingName, sweepAbandoned } from "../../../storage/staging.ts";
import { defaultProgramCacheBytes } from "../xla-settings.ts";
import {
  type ProgramDescription,
  type StoredProgram,
  decodeProgram,
  encodeProgram,
  headBytes,
  readDescription,
} from "./program-file.ts";

/** The folder of the compiled programs of this user, in the data folder. */
function programFolderPath(): string {
  return join(dataFolder(), "xla-programs");
}

const fileName = /^[0-9a-f]{64}\.program$/;
/** A mark that a process loads a program, which follows the name of the file. */
const loadingName = /^([0-9a-f]{64}\.program)\.loading-/;

/** A file of the folder. */
export interface ProgramFileStatus {
  readonly path: string;
  readonly key: string;
  readonly bytes: number;
  /** Time of the last use, in milliseconds since 1970. */
  readonly usedMs: number;
}

/** A file of the folder and its content. */
export interface ListedProgram extends ProgramFileStatus {
  /** Description of the program; undefined for a damaged file, which is removed when its program is needed. */
  readonly description: ProgramDescription | undefined;
}

/** The compiled programs that this user's processes share. No method throws if the folder or its files are damaged. */
export class ProgramFolder {
  readonly path: string;
  readonly #maxBytes: number;
  #problem: string | undefined;

  private constructor(path: string, maxBytes: number, problem: string | undefined) {
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#problem = problem;
  }

  /**
   * Opens or creates the folder, and removes unfinished files of killed processes. `maxBytes`: bytes of all files together, above which the least recently used
   * are removed; 0: the folder is not used.
   */
  static async open({
    path = programFolderPath(),
    maxBytes = defaultProgramCacheBytes,
  }: { readonly path?: string; readonly maxBytes?: number | undefined } = {}): Promise<ProgramFolder> {
    const problem = maxBytes === 0 ? "xla.programCacheBytes is 0" : prepare(path);
    if (problem === undefined) {
      removeFatal(path);
      await sweepAbandoned(path).catch(() => 0); // a folder that can only be read
    }
    return new ProgramFolder(path, maxBytes, problem);
  }

  /** The folder as it is, for lists and removals: nothing is created. */
  static at(path: string = programFolderPath()): ProgramFolder {
    return new ProgramFolder(path, 0, undefined);
  }

  /** Why programs are not kept, as a clause; undefined as long as nothing failed. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Returns the result of `load` for the program with this key; undefined if there is none, or if `load` throws. A file is removed if it is damaged, if other
   * users could have written it, or if `load` refuses it; a file that ended the process is removed when the folder is opened the next time. Throws
   * OUT_OF_MEMORY of `load`.
   */
  load<Result>(key: string, load: (program: StoredProgram) => Result): Result | undefined {
    const program = this.#problem === undefined ? this.#read(key) : undefined;
    if (program === undefined) return undefined;
    const mark = `${this.#getPath(key)}${stagingName("loading")}`;
    touch(mark);
    try {
      return load(program);
    } catch (error) {
      if (error instanceof InferyardError && error.code === "OUT_OF_MEMORY") throw error;
      this.remove(key);
      return undefined;
    } finally {
      removeIfThere(mark);
    }
  }

  #read(key: string): StoredProgram | undefined {
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
    const program = decodeProgram(bytes, key);
    if (program === undefined) removeIfThere(path);
    else markUsed(path);
    return program;
  }

  /** Keeps a program, and removes the least recently used ones above the maximum of bytes. */
  write(program: StoredProgram): void {
    if (this.#problem !== undefined) return;
    const bytes = encodeProgram(program);
    if (bytes.length > this.#maxBytes) return;
    const path = this.#getPath(program.key);
    const temporary = `${path}${stagingName("writing")}`;
    try {
      // Not flushed: after a loss of power the digest tells a damaged file.
      writeFileSync(temporary, bytes, { flag: "wx", mode: 0o600 });
      renameSync(temporary, path);
    } catch (error) {
      removeIfThere(temporary);
      this.#problem = getMessage(error);
      return;
    }
    this.#removeAbove(this.#maxBytes);
  }

  /** Removes the program with this key. Returns whether it is gone. */
  remove(key: string): boolean {
    return removeIfThere(this.#getPath(key));
  }

  /** The files, the most recently used first. Empty if the folder cannot be read. */
  files(): readonly ProgramFileStatus[] {
    return namesIn(this.path)
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
  list(): readonly ListedProgram[] {
    return this.files().map((file) => ({ ...file, description: descriptionIn(file.path) }));
  }

  #getPath(key: string): string {
    return join(this.path, `${key}.program`);
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

function isTrustedFile(status: Stats): boolean {
  return status.isFile() && isTrusted(status);
}

/** Removes programs whose process ended while it loaded them: plugins crash on some executables. */
function removeFatal(path: string): void {
  try {
    for (const name of readdirSync(path)) {
      const program = loadingName.exec(name)?.[1];
      if (program !== undefined && isAbandoned(name)) removeIfThere(join(path, program));
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

function descriptionIn(path: string): ProgramDescription | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = new Uint8Array(headBytes);
      return readDescription(bytes.subarray(0, readSync(file, bytes)));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // another process removed it
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).filter((name) => fileName.test(name));
  } catch {
    return []; // there is no folder
  }
}
