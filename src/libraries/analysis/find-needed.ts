/** Finds the libraries that an ELF file needs, in the order of ld.so(8). */
import { dirname, join, resolve } from "node:path";
import type { BinaryFile } from "../binaries/index.ts";
import type { DependencyReader } from "./dependency-reader.ts";
import type { FoundBy, IndirectNeed, NeededLibrary } from "./library-analysis.ts";

/** Debian's names of architectures in folders. */
const multiarchNames: Readonly<Record<string, string>> = {
  "x86-64": "x86_64-linux-gnu",
  arm64: "aarch64-linux-gnu",
  arm: "arm-linux-gnueabihf",
  x86: "i386-linux-gnu",
};
/** What the loader calls an architecture in `$PLATFORM`, where that is another name than ours. */
const platformNames: Readonly<Record<string, string>> = { "x86-64": "x86_64", arm64: "aarch64" };

/** Folders of libraries below / and /usr, the first that the loader looks into first: Debian's, then those of other distributions. */
function libFolders({ architecture, bits }: BinaryFile): string[] {
  const name = multiarchNames[architecture];
  return [...(name === undefined ? [] : [`lib/${name}`]), ...(bits === 64 ? ["lib64"] : []), "lib"];
}

/** Where to look. */
export interface Search {
  /** Absolute path of the file that needs the libraries. */
  readonly path: string;
  readonly binary: BinaryFile;
  /** Folders of DT_RPATH of the files that need this one. */
  readonly inheritedRpath?: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dependencies: DependencyReader;
}

/** A library that was found, with the facts of its tables; without them where it is missing. */
export interface FoundLibrary {
  readonly need: NeededLibrary;
  readonly binary: BinaryFile | undefined;
}

/** An indirect dependency that was looked for, with the facts of its tables. */
export interface FoundIndirectly extends FoundLibrary {
  readonly need: IndirectNeed;
}

/** Libraries that a file needs itself, and further ones that the found libraries need. */
export interface FoundNeeds {
  readonly direct: readonly FoundLibrary[];
  readonly indirect: readonly FoundIndirectly[];
}

/**
 * Searches every library that the file needs, then breadth first the libraries that these need, each name once. Files of another architecture are skipped, as
 * by the loader.
 */
export async function findNeeded(search: Search): Promise<FoundNeeds> {
  const findAll = (of: Search): Promise<FoundLibrary[]> => Promise.all(of.binary.needed.map((name) => findLibrary(name, of)));
  const direct = await findAll(search);
  const indirect: FoundIndirectly[] = [];
  const seen = new Set(direct.map(({ need }) => need.name));
  let level = direct.map((found) => ({ found, of: search }));
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { found, of } of level) {
      const { need, binary } = found;
      if (binary === undefined || need.path === undefined) continue;
      const needing = { ...of, path: need.path, binary, inheritedRpath: chainedRpath(of) };
      for (const needed of await findAll(needing)) {
        if (seen.has(needed.need.name)) continue;
        seen.add(needed.need.name);
        indirect.push({ ...needed, need: { ...needed.need, neededBy: need.name } });
        next.push({ found: needed, of: needing });
      }
    }
    level = next;
  }
  return { direct, indirect };
}

async function findLibrary(name: string, search: Search): Promise<FoundLibrary> {
  const cached = await search.dependencies.cachedPaths(name);
  let passedOver: NeededLibrary["passedOver"];
  for (const [foundBy, path] of candidates(name, search, cached)) {
    const binary = await search.dependencies.read(path);
    if (binary === undefined) continue;
    if (matches(binary, search.binary)) return { need: { name, path, foundBy, status: "found" }, binary };
    passedOver ??= { path, architecture: binary.architecture };
  }
  const need = { name, path: undefined, foundBy: undefined, status: "missing" } as const;
  return { need: passedOver === undefined ? need : { ...need, passedOver }, binary: undefined };
}

/**
 * Folders of DT_RPATH that hold for what the file needs, and for what that needs in turn: its own, then those of the files that load it. The DT_RPATH of a file that also
 * has a DT_RUNPATH does not count; those of the files that load it still do.
 */
function chainedRpath({ path, binary, inheritedRpath = [] }: Search): readonly string[] {
  return [...(binary.runpath.length > 0 ? [] : expandFolders(binary.rpath, path, binary)), ...inheritedRpath];
}

/** The folders of a run path, with the variables of ld.so(8) replaced. */
function expandFolders(folders: readonly string[], path: string, binary: BinaryFile): string[] {
  const withVariable = (folder: string, name: string, values: readonly string[]): string[] => {
    const variable = new RegExp(`\\$(?:${name}|\\{${name}\\})`, "g");
    return variable.test(folder) ? values.map((value) => folder.replaceAll(variable, () => value)) : [folder];
  };
  return folders
    .flatMap((folder) => withVariable(folder, "ORIGIN", [dirname(path)]))
    .flatMap((folder) => withVariable(folder, "LIB", libFolders(binary)))
    .flatMap((folder) => withVariable(folder, "PLATFORM", [platformNames[binary.architecture] ?? binary.architecture]));
}

/** Folders of LD_LIBRARY_PATH. An empty entry between others is the current folder. */
function environmentFolders({ LD_LIBRARY_PATH: text = "" }: Search["environment"]): string[] {
  return text === "" ? [] : text.split(/[:;]/).map((folder) => resolve(folder));
}

/** Paths at which the loader looks, in its order; last the one beside the file, at which it does not look. */
function candidates(name: string, search: Search, cached: readonly string[]): [FoundBy, string][] {
  const { path, binary, environment } = search;
  const origin = dirname(path);
  if (name.includes("/")) return [["path", name]];
  const folders: [FoundBy, readonly string[]][] = [
    ["rpath", binary.runpath.length > 0 ? [] : chainedRpath(search)],
    ["LD_LIBRARY_PATH", environmentFolders(environment)],
    ["runpath", expandFolders(binary.runpath, path, binary)],
  ];
  return [
    ...folders.flatMap(([by, list]) => list.map((folder): [FoundBy, string] => [by, join(folder, name)])),
    ...cached.map((file): [FoundBy, string] => ["loader cache", file]),
    ...[...libFolders(binary).flatMap((folder) => [`/${folder}`, `/usr/${folder}`]), "/usr/local/lib"].map(
      (folder): [FoundBy, string] => ["default folder", join(folder, name)],
    ),
    ["beside the file", join(origin, name)],
  ];
}

/** Whether the loader accepts a found library as a dependency: format, architecture, bits and byte order must match. */
function matches(found: BinaryFile, { format, architecture, bits, byteOrder }: BinaryFile): boolean {
  return (
    found.format === format &&
    found.kind === "shared object" &&
    found.architecture === architecture &&
    found.bits === bits &&
    found.byteOrder === byteOrder
  );
}
