/**
 * Checks that src/ keeps to the plan of scripts/layout/layout.ts: which folder may import which, how many files a folder holds, how long a file is.
 * oxlint refuses circles of imports. Part of `npm run lint`. Prints each violation on a line of its own; the exit code is 1 when there is one.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { importProblem, layersWithin, limits, ranks } from "./layout.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

function filesBelow(folder: string, pattern: RegExp): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((file) => !file.includes("node_modules/"));
}

const sources = filesBelow("src", /(?<!\.test)\.ts$/).filter((file) => !limits.generated.includes(file));

/** Imports and exports with a relative path: static ones, of types, and dynamic ones with a constant path. */
const specifier = /(?:\bfrom|\bimport\s*\(|^import)\s*"(\.{1,2}\/[^"]+)"/gm;
/** Comments, which may have examples of imports. */
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Source files that a file imports, types and dynamic imports included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8").replace(comments, "");
  return [...text.matchAll(specifier)]
    .map(([, path = ""]) => posix.join(dirname(file), path))
    .filter((imported) => imported.startsWith("src/"));
}

function wrongImports(): readonly string[] {
  return sources.flatMap((file) =>
    importsOf(file).flatMap((imported) => {
      const problem = importProblem(file, imported);
      return problem === undefined ? [] : [`${file} imports ${imported}: ${problem}`];
    }),
  );
}

function wrongSizes(): readonly string[] {
  const all = ["test", "scripts", "bench"].flatMap((folder) => filesBelow(folder, /./));
  const counted = [...sources, ...all.filter((file) => !limits.data.some((folder) => file.startsWith(folder)))];
  const count = new Map<string, number>();
  for (const file of counted) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1);
  const folderSizes = [...count].flatMap(([name, files]) => {
    const limit = name === "src" ? limits.looseFiles : limits.files;
    if (files > limit) return [`${name}: ${files} files, and it may have ${limit}`];
    if (files > 1 || !name.startsWith("src/") || limits.mayHoldOne.includes(name)) return [];
    return sources.some((file) => dirname(file).startsWith(`${name}/`)) ? [] : [`${name}: holds one source file; move it up`];
  });
  const fileSizes = sources.flatMap((file) => {
    const lines = readFileSync(join(root, file), "utf8").split("\n").length - 1;
    return lines > limits.lines ? [`${file}: ${lines} lines, and a file may have ${limits.lines}`] : [];
  });
  return [...folderSizes, ...fileSizes];
}

/** Entries of the layout that name nothing. */
function emptyEntries(): readonly string[] {
  const entries = [
    ...ranks.flat().map((entry) => `src/${entry}`),
    ...Object.entries(layersWithin).flatMap(([folder, layers]) =>
      layers.flat().flatMap((entry) => (entry === "." ? [] : [`src/${folder}/${entry}`])),
    ),
  ];
  return entries
    .filter((entry) => !sources.some((file) => file === entry || file.startsWith(`${entry}/`)))
    .map((entry) => `scripts/layout/layout.ts: ${entry} holds no file`);
}

const violations = [...wrongImports(), ...wrongSizes(), ...emptyEntries()];
for (const violation of violations) console.error(violation);
process.exitCode = violations.length === 0 ? 0 : 1;
