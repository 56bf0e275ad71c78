/** Bundles entries into one folder: the steps that dist/, its part for pages, the single programs and `inferyard build` share. */
import { isBuiltin } from "node:module";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Rolldown from "rolldown";
import type { CodeSplittingGroup, Plugin, RolldownOptions } from "rolldown";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { fileNameOf, chunks, compileCache, modules, programs, sourceMaps, subpaths } from "./entries.ts";

/** The folder of this package, with a separator at its end. */
export const packageRoot: string = fileURLToPath(new URL("../..", import.meta.url));

/** By the names of entries: the paths of their sources, absolute or below the package. */
type Entries = Readonly<Record<string, string>>;

/** All entries for Node.js. */
export const nodeEntries: Entries = {
  ...Object.fromEntries(Object.entries(subpaths).map(([subpath, source]) => [fileNameOf(subpath), source])),
  ...modules,
  ...programs,
};

const programPrefix = "program:";
/** By the absolute paths of their sources: the names of programs. */
const programNames = new Map(Object.entries(programs).map(([name, source]) => [resolve(packageRoot, source), name]));

/**
 * Puts a module before each program that turns on what works only on modules that are loaded later: the compile cache and, for the command line alone, source
 * maps. A library leaves those to its user (`node --enable-source-maps`).
 */
const startPrograms: Plugin = {
  name: "start-programs",
  resolveId: {
    filter: { id: /^program:/ },
    handler: (id) => `\0${id}`,
  },
  load: {
    filter: { id: /^\0program:/ },
    handler(id) {
      const name = id.slice(programPrefix.length + 1);
      const path = (source: string): string => JSON.stringify(resolve(packageRoot, source));
      return [
        `import { enableCompileCache } from ${path(compileCache)};`,
        "enableCompileCache();",
        ...(name === "cli" ? [`import { enableSourceMaps } from ${path(sourceMaps)};`, "enableSourceMaps(process.argv);"] : []),
        `await import(${path(programs[name] ?? "")});`,
      ].join("\n");
    },
  },
};

/** What the bundler loads for the source of an entry. */
function inputOf(source: string): string {
  const path = resolve(packageRoot, source);
  const program = programNames.get(path);
  return program === undefined ? path : `${programPrefix}${program}`;
}

const urlOfFile = /new URL\(\s*"(\.[^"]+)",\s*import\.meta\.url,?\s*\)/g;

/** The code of the URL of a path relative to the module. It is put together here, so that this module's own text is not rewritten. */
function urlCode(path: string): string {
  return ["new URL(", JSON.stringify(path), ", import.meta.url)"].join("");
}

/**
 * Rewrites URLs relative to a module of this package from the source's folder to the bundle's, whose files are all in one folder. In Node.js a source must be an entry; a
 * page has programs of Node.js nowhere, and no use for their URLs.
 */
function resolveUrls({ entries, folder, isPage, runsIn = folder, onDemand, placeFile }: Output): Plugin {
  const names = new Map(Object.entries(entries).map(([name, source]) => [resolve(packageRoot, source), name]));
  const place = placeFile ?? ((target: string) => relative(runsIn, target));
  const sources = resolve(packageRoot, "src");
  return {
    name: "resolve-urls",
    transform: {
      filter: { code: urlOfFile },
      handler(code, id) {
        if (onDemand !== undefined && relative(sources, id).startsWith("..")) return undefined;
        const rewritten = code.replaceAll(urlOfFile, (_all, path: string) => {
          const target = resolve(id, "..", path);
          const name = names.get(target);
          if (name !== undefined) {
            if (onDemand?.has(name) === true) this.emitFile({ type: "chunk", id: inputOf(target), fileName: `${name}.js` });
            return urlCode(`./${name}.js`);
          }
          if (relative(sources, target).startsWith("..")) return urlCode(place(target));
          if (isPage) return "new URL(import.meta.url)";
          return this.error(
            `${relative(packageRoot, target)}, which ${relative(packageRoot, id)} names, is no entry of src/bundling/entries.ts`,
          );
        });
        return { code: rewritten, map: null }; // lines stay, and columns before the URL
      },
    },
  };
}

/** Assigns modules to the chunks of entries.ts, once all imports are known. */
function assignChunks(entries: Entries): { readonly plugin: Plugin; readonly groups: CodeSplittingGroup[] } {
  const entryIds = new Set(Object.values(entries).map((source) => resolve(packageRoot, source)));
  const chunkOf = new Map<string, string>();
  const plugin: Plugin = {
    name: "assign-chunks",
    buildEnd() {
      for (const [name, sources] of Object.entries(chunks)) {
        const waiting = sources.map((source) => resolve(packageRoot, source));
        for (const seen = new Set<string>(); waiting.length > 0;) {
          const id = waiting.pop() ?? "";
          if (seen.has(id)) continue;
          seen.add(id);
          if (!chunkOf.has(id) && !entryIds.has(id)) chunkOf.set(id, name);
          waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      }
    },
  };
  const names = Object.keys(chunks);
  return {
    plugin,
    groups: names.map((name, index) => ({ name, test: (id) => chunkOf.get(id) === name, priority: names.length - index })),
  };
}

/** Whether an import names a package. `page`: the module of a page that imports it. */
function isPackage(id: string, page: string | undefined): boolean {
  if (id.startsWith("node:") && page !== undefined)
    throw new Error(`${relative(packageRoot, page)} is needed by a page, and imports ${id}`);
  if (id.startsWith("@oxc-project/runtime"))
    throw new Error("src/ has syntax newer than ES2022 (`using`?), which needs a helper at run time");
  return !/^([./\0]|program:|[a-z]:\\)/i.test(id);
}

/** What is written where. */
export interface Output {
  readonly entries: Entries;
  /** Names of entries that are written only if a module names them by their URL. Default: all are written. */
  readonly onDemand?: ReadonlySet<string>;
  /** Absolute path. */
  readonly folder: string;
  /** Absolute path of the folder that the bundle will be in when it runs, for URLs of files outside it. Default: `folder`. */
  readonly runsIn?: string;
  /** The URL, relative to the bundle, of a file or folder of this package outside src/, by its absolute path. Default: its path from `runsIn`. */
  readonly placeFile?: (path: string) => string;
  /** Whether it runs in a browser, not in Node.js. */
  readonly isPage: boolean;
  /** Which packages stay imports; all others become part of the bundle. `importer`: the absolute path of the module. Default: all packages stay imports. */
  readonly isExternal?: (name: string, importer: string | undefined) => boolean;
  /** Plugins that see modules before the steps of every bundle. Default: none. */
  readonly plugins?: readonly Plugin[];
  /** Modules other than entries whose import has effects. Default: none. */
  readonly hasEffects?: (path: string) => boolean;
  /** Gets warnings of the bundler on modules outside of this package. Default: they are errors, but those on packages are ignored. */
  readonly onWarning?: (message: string) => void;
}

/**
 * Writes one bundle. Returns the folders of the npm packages that are part of it, below the root of this package and sorted. Throws NOT_BUILT if rolldown is
 * not installed, and Error for what it reports.
 */
export async function writeBundle(output: Output): Promise<readonly string[]> {
  const { entries, folder, isPage, isExternal, onDemand, plugins = [], hasEffects, onWarning } = output;
  const { rolldown } = await importRolldown();
  const { plugin: assigning, groups } = assignChunks(entries);
  const sources = new Set(Object.values(entries).map((source) => resolve(packageRoot, source))); // programs work by their side effects
  const options: RolldownOptions = {
    cwd: packageRoot,
    input: Object.fromEntries(
      Object.entries(entries)
        .filter(([name]) => onDemand?.has(name) !== true)
        .map(([name, source]) => [name, inputOf(source)]),
    ),
    platform: isPage ? "browser" : "node",
    transform: { target: onDemand === undefined ? "es2022" : "esnext" }, // modules of the user keep their syntax
    external: (id, importer) =>
      isPackage(id, isPage ? (importer ?? "") : undefined) &&
      (isExternal === undefined || id.startsWith("node:") || isBuiltin(id) || isExternal(id, importer)),
    tsconfig: false,
    treeshake: { moduleSideEffects: (id) => sources.has(id) || hasEffects?.(id) === true },
    plugins: [...plugins, startPrograms, resolveUrls(output), assigning],
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    onLog(level, log) {
      if (level === "debug" || (isExternal !== undefined && log.id?.includes("node_modules") === true)) return;
      if (onWarning === undefined || log.id?.startsWith(resolve(packageRoot, "src")) === true)
        throw new Error(`rolldown: ${log.message}`);
      onWarning(log.message);
    },
  };
  const bundle = await rolldown(options);
  const written = await bundle.write({
    dir: folder,
    format: "es",
    entryFileNames: "[name].js",
    chunkFileNames: "chunk-[name].js",
    sourcemap: isExternal === undefined,
    sourcemapExcludeSources: true, // the package has them, once for both builds
    minify: false,
    minifyInternalExports: false,
    comments: { legal: true, annotation: true, jsdoc: false }, // the sources in the maps have them
    codeSplitting: { groups },
  });
  await bundle.close();
  const modules = written.output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const folders = modules.map(
    (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(relative(packageRoot, id).replaceAll("\\", "/"))?.[0],
  );
  return [...new Set(folders.filter((each) => each !== undefined))].toSorted();
}

async function importRolldown(): Promise<typeof Rolldown> {
  try {
    return await import("rolldown");
  } catch (cause) {
    throw new InferyardError("NOT_BUILT", `bundles are made by rolldown, which does not load: ${getMessage(cause)}`, {
      remedy: "npm install rolldown",
      cause,
    });
  }
}
