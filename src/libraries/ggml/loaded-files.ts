/**
 * The files of native code that compute where a library of llama.cpp is loaded: what the loader maps for it, and what ggml's registry of backends loads
 * from its folder. Found by tables and names; nothing is loaded.
 */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { LibraryFileDigest } from "../../contract/backend.ts";
import { sha256Of } from "../../platform/node/files.ts";
import { backendsIn, DependencyReader, findNeeded, type FoundBy } from "../analysis/index.ts";
import { checkLibrarySize } from "../binaries/library-size.ts";

/** A file that is loaded. */
export interface LoadedFile {
  /** The name by which it is loaded, without folders: that of a link where one is followed. */
  readonly name: string;
  /** Absolute path without links. */
  readonly path: string;
  /** Hexadecimal SHA-256. */
  readonly sha256: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Parts of ggml and llama.cpp, which belong to a build wherever they are: libggml.so.0, libggml-base.so, libllama.v0.5.0.so. */
const partName = /^(?:lib)?(?:ggml|llama)[-.]/;
/** How libraries of the system are found, which are no part of a build: the C library, drivers, whatever is installed for all programs. */
const systemFinds: ReadonlySet<FoundBy | undefined> = new Set(["loader cache", "default folder"]);
/** Folders in which the loader looks by default. */
const systemFolder = /^(?:\/usr)?\/lib(?:32|64|x32)?(?:\/[\w.]+-linux-[\w.]+)?$/;

/**
 * The library at `path`, and behind it, by name: the parts of ggml and llama.cpp that it needs, directly or not; other libraries that it needs from its own folder, from run
 * paths and from LD_LIBRARY_PATH; and the backends beside it, of which ggml tries all and keeps the best for this processor, with what these need. Libraries of
 * the system are left out. Throws errors of Node.js, INPUT_INVALID for a file that is no regular one, and LIMIT_EXCEEDED.
 */
export async function readLoadedFiles(
  path: string,
  environment: Environment = process.env,
): Promise<readonly [LoadedFile, ...LoadedFile[]]> {
  const given = resolve(path);
  const real = await realpath(given);
  const folder = dirname(real);
  const dependencies = new DependencyReader();
  // By name, as the loader does: a name that was loaded before is not looked for again.
  const paths = new Map([[basename(given), given]]);
  for (const root of [
    given,
    ...(await backendsIn(folder, process.platform === "win32" ? "pe" : "elf")),
    ...outOfTree(environment),
  ]) {
    if (!paths.has(basename(root))) paths.set(basename(root), root);
    // In order: what one file needs, the next mostly needs too, and is read once.
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
    const digest = digests.get(file) ?? digestOf(file);
    digests.set(file, digest);
    // oxlint-disable-next-line no-await-in-loop
    files.push({ name, path: file, sha256: await digest });
  }
  const [own = { name: basename(given), path: real, sha256: await digestOf(real) }, ...others] = files;
  return [own, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

/**
 * One hexadecimal SHA-256 for a library with all that it loads: that of its file, or of lines with the digest and the name of each file. The name of the
 * first, which may be that of a link, does not count.
 */
export function digestOfFiles([own, ...others]: readonly LibraryFileDigest[]): string {
  const digest = own?.sha256 ?? "";
  if (others.length === 0) return digest;
  const lines = [digest, ...others.map(({ name, sha256 }) => `${sha256}  ${name}`)];
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

async function digestOf(path: string): Promise<string> {
  await checkLibrarySize(path);
  return sha256Of(path);
}

/** The backend that ggml loads besides, by its variable. */
function outOfTree({ GGML_BACKEND_PATH: path = "" }: Environment): readonly string[] {
  return path === "" ? [] : [resolve(path)];
}

/** Paths of what a file needs, directly or not, without libraries of the system. */
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

/** Where the loader is not followed: what a file needs and lies beside it, directly or not. */
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
