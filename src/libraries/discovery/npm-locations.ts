/** Folders of npm packages that hold native libraries: node-llama-cpp's, one for each build, and onnxruntime-node's. */
import { readFile, readdir, stat } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { engineFolders } from "../../storage/installed-engines.ts";
import type { LibraryPackage, SearchLocation } from "./search-location.ts";

/** Below @node-llama-cpp/<build>: bins/<build>/[fallback/]. Below onnxruntime-node/bin: napi-v6/<platform>/<architecture>/. */
const depth = 3;
const rule = "npm package";

/**
 * Locations of packages in the folders that Node.js searches for packages from `directory` and from Inferyard's own folder. A folder that does
 * not exist is a location as well, so that it is reported. Engines in the data folder and in the folder of INFERYARD_ENGINES are locations if they are there.
 */
export async function npmLocations(directory: string): Promise<readonly SearchLocation[]> {
  const folders = [join(directory, "any.js"), import.meta.url].flatMap(
    (from) => createRequire(from).resolve.paths("onnxruntime-node") ?? [],
  );
  const installed = (["onnx", "llamacpp"] as const).flatMap((engine) =>
    engineFolders(engine).map((folder) => join(folder, "node_modules")),
  );
  folders.push(...installed.filter((folder) => existsSync(folder)));
  return (await Promise.all([...new Set(folders)].map(locationsIn))).flat();
}

async function locationsIn(folder: string): Promise<readonly SearchLocation[]> {
  if (!(await isFolder(folder))) return [{ path: folder, rule, depth: 0 }];
  const scope = join(folder, "@node-llama-cpp");
  const builds = (await isFolder(scope)) ? (await readdir(scope)).sort() : [];
  return [
    ...(builds.length === 0 ? [{ path: scope, rule, depth: 0 }] : []),
    ...(await Promise.all(builds.map((build) => packageLocation(join(scope, build), ".")))),
    await packageLocation(join(folder, "onnxruntime-node"), "bin"),
  ];
}

/** Whether a folder is there and can be read. The search of the location says why not. */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

async function packageLocation(folder: string, subfolder: string): Promise<SearchLocation> {
  const found = await readPackage(join(folder, "package.json"));
  return { path: join(folder, subfolder), rule, depth, ...omitUndefined({ package: found }) };
}

/** Name and version by a package.json. Undefined where it is missing or states none: the libraries beside it are found without it. */
async function readPackage(file: string): Promise<LibraryPackage | undefined> {
  try {
    const { name, version } = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    return typeof name === "string" && typeof version === "string" ? { name, version } : undefined;
  } catch {
    return undefined;
  }
}
