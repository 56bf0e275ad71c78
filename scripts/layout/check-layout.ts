/**
 * Checks that src/ keeps to the plan of scripts/layout/layout.ts: which folder may import which, how many files a folder holds, how long a
 * file is; that no exported name stands for two things, and that each folder keeps to its budget of lines, which it prints.
 * oxlint refuses circles of imports. Part of `npm run lint`. Prints each violation on a line of its own; the exit code is 1 when there is one.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { importProblem, layersWithin, limits, ranks } from "./layout.ts";
import { lineBudgets } from "./line-budgets.ts";

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

const declaration = /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|enum) (\w+)/gm;

/** Names that several files export. A page's own modules (folders named `browser`) may name what they replace. */
function ambiguousNames(): readonly string[] {
  const exporters = new Map<string, Set<string>>();
  for (const file of sources.filter((each) => !each.includes("/browser/"))) {
    for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(declaration))
      exporters.set(name, (exporters.get(name) ?? new Set()).add(file));
  }
  return [...exporters].flatMap(([name, files]) =>
    files.size === 1 || limits.sharedNames.includes(name)
      ? []
      : [`${name}: exported by ${[...files].join(" and ")}; one of them needs another name`],
  );
}

/** Lines of each top folder of src/; loose files count as the folder ".". */
function linesByFolder(): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const file of sources) {
    const [, folder = "", below] = file.split("/");
    const name = below === undefined ? "." : folder;
    lines.set(name, (lines.get(name) ?? 0) + readFileSync(join(root, file), "utf8").split("\n").length - 1);
  }
  return lines;
}

/** Prints the lines of each folder beside its budget. Returns the folders that exceed their budget, and those that have none or are gone. */
function wrongBudgets(): readonly string[] {
  const lines = linesByFolder();
  const names = [...new Set([...Object.keys(lineBudgets), ...lines.keys()])].toSorted();
  const rows = names.map((name) => ({ name, held: lines.get(name) ?? 0, budget: lineBudgets[name] ?? 0 }));
  const sum = (field: "held" | "budget"): number => rows.reduce((total, row) => total + row[field], 0);
  for (const { name, held, budget } of [...rows, { name: "together", held: sum("held"), budget: sum("budget") }])
    console.log(`${name.padEnd(20)} ${String(held).padStart(7)} lines of ${String(budget).padStart(7)}`);
  return rows.flatMap(({ name, held, budget }) => {
    if (held > budget) return [`src/${name}: ${held} lines, and its budget in scripts/layout/line-budgets.ts is ${budget}`];
    return held === 0 ? [`scripts/layout/line-budgets.ts: src/${name} holds no file`] : [];
  });
}

const violations = [...wrongImports(), ...wrongSizes(), ...emptyEntries(), ...ambiguousNames(), ...wrongBudgets()];
for (const violation of violations) console.error(violation);
process.exitCode = violations.length === 0 ? 0 : 1;
