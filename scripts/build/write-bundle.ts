/** Bundles entries of entries.ts into one folder: the steps that dist/, its part for pages and the single programs share. */
import { isBuiltin } from "node:module";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type CodeSplittingGroup, type Plugin, rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { fileNameOf, chunks, compileCache, modules, pageReplacements, programs, sourceMaps, subpaths } from "./entries.ts";

/** The folder of the repository. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** By the paths of their sources: the names of entries. */
type Entries = Readonly<Record<string, string>>;

/** All entries for Node.js. */
export const nodeEntries: Entries = {
  ...Object.fromEntries(Object.entries(subpaths).map(([subpath, source]) => [fileNameOf(subpath), source])),
  ...modules,
  ...programs,
};

const programPrefix = "program:";

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
      const path = (source: string): string => JSON.stringify(resolve(root, source));
      return [
        `import { enableCompileCache } from ${path(compileCache)};`,
        "enableCompileCache();",
        ...(name === "cli" ? [`import { enableSourceMaps } from ${path(sourceMaps)};`, "enableSourceMaps(process.argv);"] : []),
        `await import(${path(programs[name] ?? "")});`,
      ].join("\n");
    },
  },
};

const urlOfFile = /new URL\(\s*"(\.[^"]+)",\s*import\.meta\.url,?\s*\)/g;

/**
 * Rewrites `new URL("./other.ts", import.meta.url)` from the source's place to that of the bundle, whose files lie in one folder. In Node.js a source must be an
 * entry; a page has programs of Node.js nowhere, and no use for their URLs. Anything outside src/ is a path below the package.
 */
function resolveUrls({ entries, folder, isPage, runsIn = folder }: Output): Plugin {
  const names = new Map(Object.entries(entries).map(([name, source]) => [resolve(root, source), name]));
  return {
    name: "resolve-urls",
    transform: {
      filter: { code: urlOfFile },
      handler(code, id) {
        const rewritten = code.replaceAll(urlOfFile, (_all, path: string) => {
          const target = resolve(id, "..", path);
          const name = names.get(target);
          if (name !== undefined) return `new URL("./${name}.js", import.meta.url)`;
          if (relative(resolve(root, "src"), target).startsWith(".."))
            return `new URL("${relative(runsIn, target)}", import.meta.url)`;
          if (isPage) return "new URL(import.meta.url)";
          return this.error(
            `${relative(root, target)}, which ${relative(root, id)} names, is no entry of scripts/build/entries.ts`,
          );
        });
        return { code: rewritten, map: null }; // lines stay, and columns before the URL
      },
    },
  };
}

/** Assigns modules to the chunks of entries.ts, once all imports are known. */
function assignChunks(entries: Entries): { readonly plugin: Plugin; readonly groups: CodeSplittingGroup[] } {
  const entryIds = new Set(Object.values(entries).map((source) => resolve(root, source)));
  const chunkOf = new Map<string, string>();
  const plugin: Plugin = {
    name: "assign-chunks",
    buildEnd() {
      for (const [name, sources] of Object.entries(chunks)) {
        const waiting = sources.map((source) => resolve(root, source));
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

function replaceModules(replacements: Entries): Plugin {
  const paths = new Map(Object.entries(replacements).map(([from, to]) => [resolve(root, from), resolve(root, to)]));
  return {
    name: "replace-modules",
    resolveId: {
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
        const replacement = resolved === null ? undefined : paths.get(resolved.id);
        return replacement === undefined || replacement === importer ? resolved : replacement;
      },
    },
  };
}

/** Properties of the tables of options and of tasks that only documentation, the command line and a server read. */
const sentences = new Set(["description", "flag", "command", "route", "input", "output", "models", "files"]);

/** Leaves the sentences of the tables of options and of tasks out of a page. Lines stay. */
const leaveOutSentences: Plugin = {
  name: "leave-out-sentences",
  transform: {
    filter: {
      id: /\/src\/(runtime\/options\/(runtime|load)-options|tasks\/([\w-]+-)?definitions|tasks\/reading\/reading-task)\.ts$/,
    },
    handler(code) {
      let left = code;
      const visit = (node: unknown): void => {
        if (typeof node !== "object" || node === null) return;
        const { type, key, start, end } = node as Partial<Record<string, unknown>>;
        const isSentence = type === "Property" && sentences.has(String((key as { name?: string }).name));
        if (!isSentence) return Object.values(node).forEach(visit);
        const [from, to] = [Number(start), code.indexOf(",", Number(end)) + 1];
        left = left.slice(0, from) + code.slice(from, to).replaceAll(/[^\n]/g, " ") + left.slice(to);
      };
      visit(parseAst(code, { lang: "ts" }));
      return { code: left, map: null };
    },
  },
};

/** Whether an import names a package. `page`: the module of a page that imports it. */
function isPackage(id: string, page: string | undefined): boolean {
  if (id.startsWith("node:") && page !== undefined)
    throw new Error(`${relative(root, page)} is needed by a page, and imports ${id}`);
  if (id.startsWith("@oxc-project/runtime"))
    throw new Error("src/ has syntax newer than ES2022 (`using`?), which needs a helper at run time");
  return !/^([./\0]|program:|[a-z]:\\)/i.test(id);
}

/** What is written where. */
export interface Output {
  readonly entries: Entries;
  /** Absolute path. */
  readonly folder: string;
  /** Absolute path of the folder that the bundle will be in when it runs, for URLs of files outside it. Default: `folder`. */
  readonly runsIn?: string;
  /** Whether it runs in a browser, not in Node.js. */
  readonly isPage: boolean;
  /** Names of packages that stay imports; all others become part of the bundle. Default: all packages stay imports. */
  readonly externalPackages?: readonly string[];
}

/** Writes one bundle. Returns the folders of the packages that are part of it, below the repository and sorted. Throws for warnings of rolldown. */
export async function writeBundle(output: Output): Promise<readonly string[]> {
  const { entries, folder, isPage, externalPackages } = output;
  const hasPackages = externalPackages !== undefined;
  const { plugin: assigning, groups } = assignChunks(entries);
  const sources = new Set(Object.values(entries).map((source) => resolve(root, source))); // programs work by their side effects
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      Object.entries(entries).map(([name, source]) => [
        name,
        name in programs ? `${programPrefix}${name}` : resolve(root, source),
      ]),
    ),
    platform: isPage ? "browser" : "node",
    transform: { target: "es2022" },
    external: (id, importer) =>
      isPackage(id, isPage ? (importer ?? "") : undefined) &&
      (!hasPackages ||
        id.startsWith("node:") ||
        isBuiltin(id) ||
        externalPackages.some((name) => id === name || id.startsWith(`${name}/`))),
    tsconfig: false,
    treeshake: { moduleSideEffects: (id) => sources.has(id) },
    plugins: [
      isPage ? [replaceModules(pageReplacements), leaveOutSentences] : undefined,
      startPrograms,
      resolveUrls(output),
      assigning,
    ],
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    onLog(level, log) {
      if (level !== "debug" && !(hasPackages && log.id?.includes("node_modules") === true))
        throw new Error(`rolldown: ${log.message}`);
    },
  });
  const written = await bundle.write({
    dir: folder,
    format: "es",
    entryFileNames: "[name].js",
    chunkFileNames: "chunk-[name].js",
    sourcemap: !hasPackages,
    sourcemapExcludeSources: true, // the package has them, once for both builds
    minify: false,
    minifyInternalExports: false,
    comments: { legal: true, annotation: true, jsdoc: false }, // the sources in the maps have them
    codeSplitting: { groups },
  });
  await bundle.close();
  const modules = written.output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const folders = modules.map((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(relative(root, id).replaceAll("\\", "/"))?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
}
