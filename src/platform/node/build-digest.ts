/** Identifies the code that runs, by its content. */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * SHA-256 of all JavaScript below `dist/` of this package, to which `module` belongs: the URL of the module that asks. Undefined where the code that
 * runs is not known from these files: sources are run, another program has bundled the package, or a file was changed after `startMs`, the
 * start of this thread in milliseconds since 1970, so that another version of it may have been loaded.
 */
export function buildDigest(module: string, startMs: number = performance.timeOrigin): string | undefined {
  try {
    const folder = builtFolder(fileURLToPath(module));
    if (folder === undefined) return undefined;
    const hash = createHash("sha256");
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
      if (!name.endsWith(".js")) continue;
      const path = join(folder, name);
      if (statSync(path).ctimeMs > startMs) return undefined;
      const content = readFileSync(path);
      hash.update(`${name.replaceAll(sep, "/")}\0${content.length}\0`).update(content);
    }
    return hash.digest("hex");
  } catch {
    return undefined; // no file, or not readable
  }
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
