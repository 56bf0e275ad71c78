/**
 * Engines in the data folder, which `inferyard backends install` put there, and in the folder of the variable INFERYARD_ENGINES, which an image or an administrator made:
 * folders with npm packages, looked into after those that Node.js finds.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { getSingleProgram } from "../platform/node/start-thread.ts";
import { type DataFolderInputs, dataFolder } from "./data-folder.ts";

/** Names of installed engines: their folders. */
export type InstalledEngine = "onnx" | "llamacpp" | "koffi";

/** Absolute path of the folder of an engine, with node_modules and `loadScript` in it; or of the folder of all. Neither need be there. */
export function enginesFolder(engine?: InstalledEngine, inputs: DataFolderInputs = {}): string {
  return join(dataFolder(inputs), "engines", engine ?? "");
}

/** Absolute paths of the folders that an engine may be in: the one in the data folder, then the one in the folder of INFERYARD_ENGINES, which is only read. */
export function engineFolders(engine: InstalledEngine, inputs: DataFolderInputs = {}): readonly string[] {
  const { INFERYARD_ENGINES: shared = "" } = inputs.environment ?? process.env;
  return [enginesFolder(engine, inputs), ...(shared === "" ? [] : [join(resolve(shared), engine)])];
}

/** File beside node_modules that imports a package for us: `import()` resolves names from the module in which it is written. */
export const loadScript = { name: "load.mjs", text: "export const load = (name) => import(name);\n" };

/** Absolute path of the package.json of a package: the one that modules at `from` import, else the one in a folder of the engine; undefined if it is in none. */
export function findPackageManifest(name: string, engine: InstalledEngine, from: string): string | undefined {
  const folders = createRequire(from).resolve.paths(name) ?? [];
  return [...folders, ...engineFolders(engine).map((folder) => join(folder, "node_modules"))]
    .map((folder) => join(folder, name, "package.json"))
    .find((manifest) => existsSync(manifest));
}

/** Imports a package with `importer`, whose literal name a bundler sees; if it is not found there, from a folder of the engine. Throws errors of the import. */
export async function importEngine(name: string, engine: InstalledEngine, importer: () => Promise<unknown>): Promise<unknown> {
  try {
    return await importer();
  } catch (error) {
    const folder = engineFolders(engine).find((each) => existsSync(join(each, "node_modules", name)));
    const isAbsent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" && String(error).includes(`'${name}'`);
    if (!isAbsent || folder === undefined) throw error;
    const { load } = (await import(pathToFileURL(join(folder, loadScript.name)).href)) as {
      load: (name: string) => Promise<unknown>;
    };
    return await load(name);
  }
}

/** The command that installs an engine: npm's, or ours in a single program, which has no project that npm could install into. */
export function installCommand(engine: InstalledEngine, npm: string): string {
  return getSingleProgram() === undefined ? npm : `inferyard backends install ${engine}`;
}
