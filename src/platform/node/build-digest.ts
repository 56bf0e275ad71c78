/** Identifies the code that runs, by its content. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The specifiers of static imports and exports of a built module. What else looks like one adds a file, or makes the digest unknown. */
const imports = /\b(?:from|import)\s*["'](\.[^"']+)["']/g;

/**
 * SHA-256 of built modules of this package and of all that they import statically, which is read from the files in `dist/`. `modules` are their URLs. Undefined where the
 * code that runs is not known from these files: sources are run, another program has bundled the package, or a file was changed after `startMs`,
 * the start of this thread in milliseconds since 1970, so that another version of it may have been loaded.
 */
export function buildDigest(modules: readonly string[], startMs?: number): string | undefined {
  return readBuild(modules, startMs)?.digest;
}

/** A build, and what tells whether its files are those that were read. */
export interface Build {
  /** See `buildDigest`. */
  readonly digest: string;
  /** The files by their paths, each as `describeFile` describes it. */
  readonly files: Readonly<Record<string, string>>;
}

/** See `buildDigest`, which it reads. */
export function readBuild(modules: readonly string[], startMs: number = performance.timeOrigin): Build | undefined {
  try {
    const entries = modules.map((module) => fileURLToPath(module));
    const [folder, ...others] = new Set(entries.map(builtFolder));
    if (folder === undefined || others.length > 0) return undefined;
    const contents = new Map<string, Buffer>();
    const files: Record<string, string> = {};
    for (const pending = [...entries]; ;) {
      const path = pending.pop();
      if (path === undefined) break;
      if (contents.has(path)) continue;
      const file = describeFile(path, startMs);
      if (file === undefined) return undefined;
      files[path] = file;
      const content = readFileSync(path);
      contents.set(path, content);
      for (const [, specifier = ""] of content.toString("latin1").matchAll(imports)) pending.push(join(dirname(path), specifier));
    }
    const hash = createHash("sha256");
    for (const [path, content] of [...contents].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      hash.update(`${relative(folder, path).replaceAll(sep, "/")}\0${content.length}\0`).update(content);
    return { digest: hash.digest("hex"), files };
  } catch {
    return undefined; // a file is missing or cannot be read
  }
}

/** Text that changes with each change of a file. Undefined if it was changed after `startMs`. Throws errors of the file system. */
export function describeFile(path: string, startMs: number = performance.timeOrigin): string | undefined {
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
  return ctimeMs > startMs ? undefined : [dev, ino, size, mtimeMs, ctimeMs].join(" ");
}

/** `dist/` of this package, if it contains the module. */
function builtFolder(module: string): string | undefined {
  for (let folder = dirname(module); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = readManifest(folder);
    if (manifest === undefined) continue;
    const built = join(folder, "dist");
    return manifest.name === "inferyard" && module.startsWith(built + sep) ? built : undefined;
  }
  return undefined;
}

function readManifest(folder: string): { readonly name?: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly name?: unknown };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
