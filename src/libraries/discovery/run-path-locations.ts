/** Folders that the run paths of programs and libraries name: DT_RPATH and DT_RUNPATH of ELF files, LC_RPATH of Mach-O files. */
import { dirname, isAbsolute, resolve } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import { readBinary } from "../binaries/index.ts";
import type { SearchLocation } from "./search-location.ts";

/** Limit for the number of folders that one file may name. */
const foldersOfFile = 32;

/**
 * The folders in a file's run paths; `$ORIGIN` and `@loader_path` are replaced by the file's own folder. Relative paths, and paths with other variables of the
 * loader, are left out. Empty for a file that is not a native library or cannot be read.
 */
export async function runPathLocations(file: string): Promise<readonly SearchLocation[]> {
  const folders = (await runPaths(file))
    .map((folder) => folder.replaceAll(/\$(?:ORIGIN|\{ORIGIN\})|@loader_path/g, dirname(file)))
    .filter((folder) => isAbsolute(folder) && !/[$@]/.test(folder))
    .map((folder) => resolve(folder));
  return [...new Set(folders)].slice(0, foldersOfFile).map((path) => ({ path, rule: `run path of ${file}`, depth: 0 }));
}

async function runPaths(file: string): Promise<readonly string[]> {
  try {
    const { rpath, runpath } = await readBinary(file, { symbols: false });
    return [...rpath, ...runpath];
  } catch (error) {
    if (error instanceof InferyardError) return [];
    throw error;
  }
}
