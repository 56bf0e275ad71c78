/**
 * Lists the libraries of a folder and its subfolders. Symbolic links to subfolders are not followed, so that no cycle is; the depth, the number
 * of entries and the number of libraries are limited.
 */
import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { getMessage, throwIfAborted } from "../../contract/errors.ts";
import { isMissing } from "../../platform/missing-file.ts";
import { isInferenceLibrary } from "./library-names.ts";
import type { LocationScan } from "./search-location.ts";

/** Limits of one location. */
export interface ScanLimits {
  /** Entries of all folders together. A folder of Python packages with PyTorch has about 60,000. */
  readonly entries: number;
  /** Files with the name of a library. */
  readonly libraries: number;
}

const defaultLimits: ScanLimits = { entries: 200_000, libraries: 2000 };

/**
 * Looks for libraries at `path`: in a folder and `depth` levels below it by their names, or the file itself with any name. Throws only ABORTED: read errors are
 * part of the result.
 */
export async function scanLocation(
  path: string,
  depth: number,
  options: { readonly limits?: ScanLimits; readonly signal?: AbortSignal | undefined } = {},
): Promise<LocationScan> {
  try {
    const status = await stat(path);
    if (status.isFile()) return { outcome: "found", files: [path], notes: [] };
    if (!status.isDirectory()) return failed("unreadable", "it is neither a folder nor a regular file");
    return await new FolderScanner(options.limits ?? defaultLimits, options.signal).scan(path, depth);
  } catch (error) {
    throwIfAborted(options.signal);
    return isMissing(error) ? failed("absent", "there is no such file or folder") : failed("unreadable", getMessage(error));
  }
}

function failed(outcome: "absent" | "unreadable", note: string): LocationScan {
  return { outcome, files: [], notes: [note] };
}

class FolderScanner {
  readonly #limits: ScanLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #files: string[] = [];
  readonly #notes: string[] = [];
  #entries = 0;

  constructor(limits: ScanLimits, signal: AbortSignal | undefined) {
    this.#limits = limits;
    this.#signal = signal;
  }

  /** Throws errors of the file system of the folder itself; of a subfolder it becomes a note. */
  async scan(path: string, depth: number): Promise<LocationScan> {
    let folders = await this.#list(path);
    for (let level = 0; level < depth && folders.length > 0; level++) {
      const below: string[] = [];
      for (const folder of folders) below.push(...(await this.#listSubfolder(folder)));
      folders = below;
    }
    return { outcome: this.#files.length > 0 ? "found" : "empty", files: this.#files.sort(), notes: this.#notes };
  }

  async #listSubfolder(path: string): Promise<readonly string[]> {
    try {
      return await this.#list(path);
    } catch (error) {
      throwIfAborted(this.#signal);
      this.#notes.push(getMessage(error));
      return [];
    }
  }

  /** Records the libraries of one folder, and returns its subfolders. Entries are read as a stream: a folder may hold millions. */
  async #list(path: string): Promise<readonly string[]> {
    const folders: string[] = [];
    if (this.#isFull()) return folders;
    for await (const entry of await opendir(path)) {
      throwIfAborted(this.#signal);
      this.#entries += 1;
      if (entry.isDirectory()) folders.push(join(path, entry.name));
      else if (mayBeLibrary(entry)) this.#files.push(join(path, entry.name));
      if (this.#isFull()) {
        this.#notes.push(
          `the search stopped at ${this.#entries} entries and ${this.#files.length} libraries, in ${basename(path)}`,
        );
        return [];
      }
    }
    return folders.sort();
  }

  #isFull(): boolean {
    return this.#entries >= this.#limits.entries || this.#files.length >= this.#limits.libraries;
  }
}

/** File systems without types of entries report none: such an entry may be a file. */
function mayBeLibrary(entry: Dirent): boolean {
  const isOther = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return !isOther && isInferenceLibrary(entry.name);
}
