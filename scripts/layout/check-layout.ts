/**
 * Checks that src/ keeps to the plan of scripts/layout/layout.ts: which folder may import which, how many files a folder holds, how long a file is.
 * Part of `npm run lint`. Prints each violation on a line of its own; the exit code is 1 when there is one.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { type Folder, folderOf, folders, limits } from "./layout.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
  .filter((file) => !limits.generated.includes(file));

/** Source files that a file imports, types and dynamic imports included. */
function importsOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), "utf8"), true, true);
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(dirname(file), fileName))
    .filter((imported) => imported.startsWith("src/"));
}

function mayImport(from: Folder, to: Folder): boolean {
  return from.name === to.name || to.name === "base" || from.imports === "everything" || from.imports.includes(to.name);
}

function wrongImports(): readonly string[] {
  return sources.flatMap((file) => {
    const from = folderOf(file);
    if (from === undefined) return [`${file}: no folder of scripts/layout/layout.ts holds it`];
    return importsOf(file).flatMap((imported) => {
      const to = folderOf(imported);
      return to === undefined || mayImport(from, to) ? [] : [`${file}: ${from.name} may not import ${to.name} (${imported})`];
    });
  });
}

function wrongSizes(): readonly string[] {
  const count = new Map<string, number>();
  for (const file of sources) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1);
  const folderSizes = [...count].flatMap(([name, files]) => {
    if (files > limits.files) return [`${name}: ${files} source files, and a folder may have ${limits.files}`];
    if (files > 1 || limits.mayHoldOne.includes(name)) return [];
    return sources.some((file) => dirname(file).startsWith(`${name}/`)) ? [] : [`${name}: holds one source file; move it up`];
  });
  const fileSizes = sources.flatMap((file) => {
    const lines = readFileSync(join(root, file), "utf8").split("\n").length - 1;
    return lines > limits.lines ? [`${file}: ${lines} lines, and a file may have ${limits.lines}`] : [];
  });
  return [...folderSizes, ...fileSizes];
}

function emptyFolders(): readonly string[] {
  return folders
    .filter(({ name }) => !sources.some((file) => folderOf(file)?.name === name))
    .map(({ name }) => `scripts/layout/layout.ts: ${name} holds no file`);
}

const violations = [...wrongImports(), ...wrongSizes(), ...emptyFolders()];
for (const violation of violations) console.error(violation);
process.exitCode = violations.length === 0 ? 0 : 1;
