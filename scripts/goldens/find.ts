/** The folders that have goldens, anywhere below a folder. */
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Deep enough for a folder of models in folders of families; a link that leads back up ends here too. */
const deepest = 5;
const goldenNames = ["goldens.json", "goldens-by-content.json.gz"] as const;

export interface GoldenFolder {
  readonly folder: string;
  /** As it is shown: relative to where the search began. */
  readonly name: string;
  readonly file: string;
}

/** In alphabetical order. Throws Error where the folder is none, or none below it has goldens. */
export async function findGoldens(root: string): Promise<readonly GoldenFolder[]> {
  const found: GoldenFolder[] = [];
  const facts = await stat(root).catch(() => undefined);
  if (facts === undefined) throw new Error(`${root} is not there`);
  if (!facts.isDirectory()) throw new Error(`${root} is not a folder`);
  await look(root, "", 0, found);
  if (found.length === 0) throw new Error(`there is no goldens.json in ${root}, nor in a folder below it (${deepest} deep)`);
  return found;
}

async function look(root: string, name: string, depth: number, found: GoldenFolder[]): Promise<void> {
  const folder = join(root, name);
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const file = goldenNames.find((wanted) => entries.some((entry) => entry.name === wanted && !entry.isDirectory()));
  if (file !== undefined) found.push({ folder, name: name === "" ? "." : name, file });
  if (depth === deepest) return;
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const path = join(name, entry.name);
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(join(root, path))));
    if (isFolder) await look(root, path, depth + 1, found);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** What the file holds. Throws Error with the problem. */
export async function readGoldens({ folder, file }: GoldenFolder): Promise<unknown> {
  const bytes = await readFile(join(folder, file));
  return JSON.parse((file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")) as unknown;
}
