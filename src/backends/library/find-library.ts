/** Which llama library is used: the one that the user names, or the one that LLAMA_CPP_DIR leads to. No file is loaded. */
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { LibraryFileDigest } from "../../contract/backend.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { environmentLocations, scanLocation } from "../../libraries/discovery/index.ts";
import { type LoadedFile, digestOfFiles, readLoadedFiles } from "../../libraries/analysis/loaded-files.ts";
import type { LibraryFile } from "../../contract/reloading.ts";
import { libraryRemedy } from "./library-remedy.ts";

/** libllama.so, libllama.so.0, libllama.v0.5.0.so, libllama.dylib, llama.dll; not libllama-common.so. */
const llamaName = /^(?:lib)?llama(?:\.[\w.]+)?\.(?:so(?:\.\d[\w.]*)?|dylib|dll)$/;
/** The release in a file name: "0.5.0" of libllama.v0.5.0.so, "b7347" of libllama.b7347.so. */
const releaseInName = /\.(?:v(\d+(?:\.\d+)+)|(b\d+))\./;
/** The folders that are searched. */
const variable = "LLAMA_CPP_DIR";

/** The absolute path of the library: `configured`, else the first that LLAMA_CPP_DIR leads to. Undefined if there is none. */
export async function findLibrary(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string | undefined> {
  if (configured !== undefined) return configured;
  if (environment[variable] === undefined) return undefined;
  const { locations } = environmentLocations({ [variable]: environment[variable] }, process.platform, process.cwd());
  for (const { path, depth } of locations) {
    const { files } = await scanLocation(path, depth);
    const found = files.find((file) => llamaName.test(basename(file)));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A library, and the paths of the files that it loads. */
export interface DescribedLibrary {
  readonly file: LibraryFile;
  /** Files that are loaded: the library itself first, then its dependencies. */
  readonly loaded: readonly LoadedFile[];
}

/** Describes the library at a path: name, version, and the files that it loads. Throws BACKEND_UNAVAILABLE if one of its files cannot be read. */
export async function describeLibrary(path: string): Promise<DescribedLibrary> {
  try {
    const loaded = await readLoadedFiles(path);
    const [{ path: real, sha256 }] = loaded;
    const files = loaded.map(({ name, sha256: digest }) => ({ name, sha256: digest }));
    const [, version, build] = releaseInName.exec(basename(real)) ?? [];
    const release = version ?? build;
    // The digest tells builds of one release apart.
    const digest = `sha256:${digestOfFiles(files).slice(0, 12)}`;
    const file = { name: basename(path), version: release === undefined ? digest : `${release} ${digest}`, path, sha256, files };
    return { file, loaded };
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `the library ${path} cannot be read: ${getReason(error)}`, {
      cause: error,
      remedy: libraryRemedy,
    });
  }
}

/**
 * The first difference between the current files of a library and its earlier files, as a clause for an error message. Undefined if they are equal.
 */
export function getChange(now: readonly LibraryFileDigest[], before: readonly LibraryFileDigest[]): string | undefined {
  const known = new Map(before.map(({ name, sha256 }) => [name, sha256]));
  for (const { name, sha256 } of now) {
    const expected = known.get(name);
    if (expected === undefined) return `${name} is there now`;
    if (expected !== sha256) return `the sha256 of ${name} is ${sha256}, not ${expected}`;
    known.delete(name);
  }
  const [gone] = known.keys();
  return gone === undefined ? undefined : `${gone} is gone`;
}

function getReason(error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing ? "there is no such file" : getMessage(error);
}

/** The folder that holds the parts of ggml. */
export async function getFolder(path: string): Promise<string> {
  return dirname(await realpath(path));
}
