/** Which llama library is used: the one that the user names, or the one that LLAMA_CPP_DIR leads to. No file is loaded. */
import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { InferyardError, messageOf } from "../../contract/errors.ts";
import { environmentLocations, scanLocation } from "../../libraries/discovery/index.ts";
import { checkLibrarySize } from "../../libraries/validation/first-load.ts";
import { sha256Of } from "../../platform/node/files.ts";
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

/** Describes the library at a path. Throws BACKEND_UNAVAILABLE if it cannot be read. */
export async function describeLibrary(path: string): Promise<LibraryFile> {
  try {
    const real = await realpath(path);
    await checkLibrarySize(real);
    const sha256 = await sha256Of(real);
    const [, version, build] = releaseInName.exec(basename(real)) ?? [];
    const release = version ?? build;
    // The digest tells builds of one release apart.
    const digest = `sha256:${sha256.slice(0, 12)}`;
    return { name: basename(path), version: release === undefined ? digest : `${release} ${digest}`, path, sha256 };
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `the library ${path} cannot be read: ${reasonOf(error)}`, {
      cause: error,
      remedy: libraryRemedy,
    });
  }
}

function reasonOf(error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing ? "there is no such file" : messageOf(error);
}

/** The folder in which the parts of ggml lie. */
export async function folderOf(path: string): Promise<string> {
  return dirname(await realpath(path));
}

/** Libraries of llama.cpp: libggml.so, libggml-base.so.0, libggml-cpu-haswell.so, libllama-common.so, ggml-cuda.dll. */
const companionName = /^(?:lib)?(?:ggml|llama|mtmd)(?:[-.][-\w.]*)?\.(?:so(?:\.\d[\w.]*)?|dylib|dll)$/;

/** The other files of the folder that a library of llama.cpp needs or loads itself, by their names: absolute paths without links to the same file. */
export async function companionsOf(path: string, folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => companionName.test(name));
  const files = await Promise.all(names.map((name) => realpath(join(folder, name)).catch(() => undefined))); // a link may lead nowhere
  const own = await realpath(path);
  return [...new Set(files)].filter((file): file is string => file !== undefined && file !== own).toSorted();
}
