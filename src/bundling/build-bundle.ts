/** `inferyard build`: a bundle of a program of the user, or of the command line, with chosen backends alone. */
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, extname, join, relative, resolve, sep } from "node:path";
import type { Plugin } from "rolldown";
import { InferyardError, getMessage, invalidInput } from "../contract/errors.ts";
import { version } from "../version.ts";
import { fileNameOf, subpaths } from "./entries.ts";
import { type BackendSelection, replacedModules } from "./selected-backends.ts";
import { nodeEntries, packageRoot, writeBundle } from "./write-bundle.ts";

/** What is built. */
export interface BuildOptions {
  /** Path of the module that the bundle starts with, in JavaScript or TypeScript. Default: the command line, with the server. */
  readonly entry?: string | undefined;
  /** The folder to write; it must be absent, empty, or an earlier bundle. */
  readonly out: string;
  /** The folder that relative paths are below. */
  readonly directory: string;
  readonly backends: BackendSelection;
}

/** A bundle that was built. */
export interface BundleReport {
  /** Absolute path of the module that starts it. */
  readonly program: string;
  /** Names of the backends that it has, and of those that it lacks. */
  readonly backends: readonly string[];
  readonly lacks: readonly string[];
  /** Names of the files, relative to the folder. */
  readonly files: readonly string[];
  /** Bytes of all files. */
  readonly bytes: number;
  /** Warnings of the bundler, and how old settings were read. */
  readonly notes: readonly string[];
}

/** The file by which a folder is known as a bundle. */
const recordName = "inferyard-build.json";
/** Prefix of the names of our own files, so that no file of the user has one of them. */
const prefix = "inferyard-";

/**
 * Writes the bundle. Files of the user, `inferyard` and what `inferyard` depends on become part of it; other packages stay imports. Throws INPUT_INVALID for an entry or
 * a folder that cannot be used and for what the bundler refuses, and NOT_BUILT without rolldown and where this package has no sources.
 */
export async function buildBundle({ entry, out, directory, backends }: BuildOptions): Promise<BundleReport> {
  if (!existsSync(resolve(packageRoot, "src/index.ts")))
    throw new InferyardError("NOT_BUILT", "bundles are made from the sources of inferyard, which this program does not have", {
      remedy: "install the package: npm install inferyard rolldown",
    });
  const source = entry === undefined ? undefined : resolve(directory, entry);
  if (source !== undefined && !(await isFile(source))) throw invalidInput(`the entry ${entry} is no file`);
  const folder = resolve(directory, out);
  await clearFolder(folder);
  const name = source === undefined ? "inferyard" : basename(source, extname(source));
  if (name.startsWith(prefix) || name.startsWith("chunk-"))
    throw invalidInput(`the entry is called ${name}, as files of a bundle are`, "give it another name");
  const own = Object.fromEntries(
    Object.entries(nodeEntries)
      .filter(([each]) => source !== undefined || each !== "cli")
      .map(([each, path]) => [`${prefix}${each}`, path]),
  );
  const assets = new Set<string>();
  const notes = [...backends.notes];
  try {
    await writeBundle({
      entries: { [name]: source ?? nodeEntries["cli"] ?? "", ...own },
      onDemand: new Set(Object.keys(own)),
      folder,
      isPage: false,
      isExternal: await externalPackages(),
      plugins: [ownModules, replaceModules(replacedModules(backends))],
      hasEffects: isOfUser,
      onWarning: (message) => void notes.push(message),
      placeFile: (path) => {
        const below = relative(packageRoot, path);
        if (below !== "") assets.add(below);
        return `./${below}`;
      },
    });
  } catch (cause) {
    if (cause instanceof InferyardError) throw cause;
    throw new InferyardError("INPUT_INVALID", `the bundle cannot be made: ${getMessage(cause)}`, { cause });
  }
  for (const asset of assets) await cp(join(packageRoot, asset), join(folder, asset), { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  const files = await filesBelow(folder);
  const record = { inferyard: version, program: `${name}.js`, backends: backends.included, lacks: backends.left, files };
  await writeFile(join(folder, recordName), `${JSON.stringify(record, null, 2)}\n`);
  let bytes = 0;
  for (const file of files) bytes += (await stat(join(folder, file))).size;
  return { program: join(folder, `${name}.js`), backends: backends.included, lacks: backends.left, files, bytes, notes };
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** Makes an empty folder. Files of an earlier bundle are removed; others are the user's. */
async function clearFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw invalidInput(`${folder} is no folder that can be written: ${error.message}`);
  });
  if (names.includes(recordName)) {
    const record = JSON.parse(await readFile(join(folder, recordName), "utf8").catch(() => "{}")) as { files?: unknown };
    const files = Array.isArray(record.files) ? record.files.filter((each) => typeof each === "string") : [];
    const inside = files.map((file) => resolve(folder, file)).filter((path) => path.startsWith(folder + sep));
    await Promise.all([...inside, join(folder, recordName)].map((path) => rm(path, { force: true })));
  }
  const left = await filesBelow(folder).catch(() => []);
  if (left.length > 0)
    throw invalidInput(`${folder} has other files: ${left.slice(0, 3).join(", ")}`, "name an empty folder: --out FOLDER");
  await mkdir(folder, { recursive: true });
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((each) => each.isFile())
    .map((each) => relative(folder, join(each.parentPath, each.name)))
    .toSorted();
}

const nodeModules = `${sep}node_modules${sep}`;

/** Whether a module is the user's own, and no package's. */
function isOfUser(path: string): boolean {
  return !path.startsWith("\0") && !path.includes(nodeModules) && !path.startsWith(join(packageRoot, "src") + sep);
}

/** Packages that stay imports: the user's own, and those that inferyard needs only if they are installed. */
async function externalPackages(): Promise<(name: string, importer: string | undefined) => boolean> {
  const manifest = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  const peers = Object.keys(manifest.peerDependencies);
  const isOf = (id: string, name: string): boolean => id === name || id.startsWith(`${name}/`);
  return (id, importer) =>
    importer !== undefined && isOfUser(importer) ? !isOf(id, "inferyard") : peers.some((name) => isOf(id, name));
}

/** Resolves `inferyard` and its paths to the sources of this package. */
const ownModules: Plugin = {
  name: "own-modules",
  resolveId: {
    filter: { id: /^inferyard(\/|$)/ },
    handler(id) {
      const subpath = id.slice("inferyard/".length);
      const source = subpaths[subpath];
      if (source === undefined)
        return this.error(`there is no ${id}: it has ${Object.keys(subpaths).map(fileNameOf).join(", ")}`);
      return resolve(packageRoot, source);
    },
  },
};

/** Gives modules other sources. Backends of programs that share code with one that is left out get the module itself. */
function replaceModules(sources: ReadonlyMap<string, string>): Plugin {
  const sharing = join(packageRoot, "src/programs/backends") + sep;
  const marked = "\0replaced:";
  return {
    name: "replace-modules",
    resolveId: {
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
        if (resolved === null || !sources.has(resolved.id)) return resolved;
        return importer?.startsWith(sharing) === true ? resolved : `${marked}${resolved.id}`;
      },
    },
    load: {
      filter: { id: /^\0replaced:/ },
      handler: (id) => ({ code: sources.get(id.slice(marked.length)) ?? "", moduleType: "js" }),
    },
  };
}
