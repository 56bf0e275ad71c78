/**
 * Lists the native files that are loaded with a llama.cpp library: its dependencies, and the backends that ggml's registry loads from its folder.
 * Uses import tables and file names; no library is loaded.
 */
import { getOrInsert } from "../../contract/checked.ts";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { LibraryFileDigest } from "../../contract/backend.ts";
import { computeSha256 } from "../../platform/node/files.ts";
import { toSha256 } from "../../storage/sha256.ts";
import { checkLibrarySize } from "../binaries/library-size.ts";
import { DependencyReader } from "./dependency-reader.ts";
import { findNeeded } from "./find-needed.ts";
import { backendsIn } from "./ggml-backends.ts";
import type { FoundBy } from "./library-analysis.ts";

/** A file that is loaded. */
export interface LoadedFile {
  /** File name under which the file is loaded, without folders; for a symbolic link, the name of the link. */
  readonly name: string;
  /** Absolute path with symbolic links resolved. */
  readonly path: string;
  /** Hexadecimal SHA-256 of the file's content. */
  readonly sha256: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * File names of libraries of ggml and llama.cpp, which belong to a build in whatever folder they are: libggml.so.0, libggml-base.so,
 * libllama.v0.5.0.so.
 */
const partName = /^(?:lib)?(?:ggml|llama)[-.]/;
/**
 * Search steps of the loader that find system libraries: the C library, drivers, and other libraries installed system-wide. These do not belong to a
 * build.
 */
const systemFinds: ReadonlySet<FoundBy | undefined> = new Set(["loader cache", "default folder"]);
/** Default search folders of the loader. */
const systemFolder = /^(?:\/usr)?\/lib(?:32|64|x32)?(?:\/[\w.]+-linux-[\w.]+)?$/;

/**
 * Lists the library at `path` and then, sorted by name: the libraries of ggml and llama.cpp among its direct and indirect dependencies; other
 * dependencies in its own folder, in run paths and in LD_LIBRARY_PATH; and the ggml backends in its folder with their dependencies. ggml tries all
 * backends and keeps the best for this processor. System libraries are left out. Throws errors of Node.js, INPUT_INVALID for a path that is not a
 * regular file, and LIMIT_EXCEEDED for a file that is too large.
 */
export async function readLoadedFiles(
  path: string,
  environment: Environment = process.env,
): Promise<readonly [LoadedFile, ...LoadedFile[]]> {
  const given = resolve(path);
  const real = await realpath(given);
  const folder = dirname(real);
  const dependencies = new DependencyReader();
  // Keyed by name, as in the loader, which does not search again for a name that is already loaded.
  const paths = new Map([[basename(given), given]]);
  for (const root of [
    given,
    ...(await backendsIn(folder, process.platform === "win32" ? "pe" : "elf")),
    ...outOfTree(environment),
  ]) {
    if (!paths.has(basename(root))) paths.set(basename(root), root);
    // Sequential, since files share most dependencies, and each dependency is then read only once.
    // oxlint-disable-next-line no-await-in-loop
    for (const needed of await neededBy(root, folder, environment, dependencies)) {
      if (!paths.has(basename(needed))) paths.set(basename(needed), needed);
    }
  }
  const digests = new Map<string, Promise<string>>();
  const files: LoadedFile[] = [];
  for (const [name, linked] of paths) {
    // oxlint-disable-next-line no-await-in-loop
    const file = await realpath(linked).catch(() => undefined);
    if (file === undefined) continue; // a link that leads nowhere, which ggml passes over
    const digest = getOrInsert(digests, file, () => computeDigest(file));
    // oxlint-disable-next-line no-await-in-loop
    files.push({ name, path: file, sha256: await digest });
  }
  const [own = { name: basename(given), path: real, sha256: await computeDigest(real) }, ...others] = files;
  return [own, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

/**
 * Combined hexadecimal SHA-256 of a library and the files it loads. A library without further files has the digest of its file. Otherwise the digest
 * is computed over lines with digest and name of each file, without the name of the library, which may be the name of a link.
 */
export function digestOfFiles([own, ...others]: readonly LibraryFileDigest[]): string {
  const digest = own?.sha256 ?? "";
  if (others.length === 0) return digest;
  const lines = [digest, ...others.map(({ name, sha256 }) => `${sha256}  ${name}`)];
  return toSha256(lines.join("\n"));
}

async function computeDigest(path: string): Promise<string> {
  await checkLibrarySize(path);
  return computeSha256(path);
}

/** Path of the additional backend that ggml loads, from the environment variable GGML_BACKEND_PATH. */
function outOfTree({ GGML_BACKEND_PATH: path = "" }: Environment): readonly string[] {
  return path === "" ? [] : [resolve(path)];
}

/** Paths of the direct and indirect dependencies of a file, without system libraries. */
async function neededBy(
  path: string,
  folder: string,
  environment: Environment,
  dependencies: DependencyReader,
): Promise<readonly string[]> {
  const binary = await dependencies.read(path);
  if (binary === undefined) return [];
  if (process.platform !== "linux" || binary.format !== "elf") return besides(path, binary.needed, dependencies);
  const { direct, indirect } = await findNeeded({ path, binary, environment, dependencies });
  const hasOwnFolder = !systemFolder.test(folder);
  return [...direct, ...indirect].flatMap(({ need: { name, path: found, foundBy } }) => {
    if (found === undefined) return [];
    const isSystem = systemFinds.has(foundBy) || systemFolder.test(dirname(found));
    const isOwn = partName.test(basename(name)) || (hasOwnFolder && dirname(found) === folder);
    return isSystem && !isOwn ? [] : [found];
  });
}

/** Direct and indirect dependencies in the folder of a file; used on platforms whose loader's search order is not implemented. */
async function besides(path: string, needed: readonly string[], dependencies: DependencyReader): Promise<readonly string[]> {
  const found = new Set<string>();
  const look = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const file = join(dirname(path), basename(name));
      // oxlint-disable-next-line no-await-in-loop
      const binary = found.has(file) ? undefined : await dependencies.read(file);
      if (binary === undefined) continue;
      found.add(file);
      // oxlint-disable-next-line no-await-in-loop
      await look(binary.needed);
    }
  };
  await look(needed);
  return [...found];
}
