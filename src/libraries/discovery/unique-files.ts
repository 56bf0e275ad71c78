/** Merges paths that lead to one file, by symbolic or hard links. */
import { realpath, stat } from "node:fs/promises";
import { getMessage } from "../../contract/errors.ts";

/** A file, all paths by which it was reached, and the locations that led to them. */
export interface UniqueFile<Origin> {
  /** The first path with its symbolic links resolved. */
  readonly path: string;
  /** Every path by which it was reached, through symbolic and hard links, in the order of the search. */
  readonly paths: readonly string[];
  /** Size in bytes. */
  readonly bytes: number;
  readonly origins: readonly Origin[];
}

/** Collects files; two paths with the same device and inode are one file. */
export class UniqueFiles<Origin> {
  readonly #files = new Map<string, { path: string; paths: Set<string>; bytes: number; origins: Set<Origin> }>();

  /** Adds a path. Returns undefined, or why the path leads to no regular file. */
  async add(path: string, origin: Origin): Promise<string | undefined> {
    try {
      const status = await stat(path, { bigint: true });
      if (!status.isFile()) return `${path} is no regular file`;
      const identity = `${status.dev}:${status.ino}`;
      const known = this.#files.get(identity) ?? {
        path: await realpath(path),
        paths: new Set<string>(),
        bytes: Number(status.size),
        origins: new Set<Origin>(),
      };
      known.paths.add(path);
      known.origins.add(origin);
      this.#files.set(identity, known);
      return undefined;
    } catch (error) {
      return getMessage(error);
    }
  }

  /** All files in the order in which they were added. */
  list(): readonly UniqueFile<Origin>[] {
    return [...this.#files.values()].map(({ paths, origins, ...file }) => ({
      ...file,
      paths: [...paths],
      origins: [...origins],
    }));
  }
}
