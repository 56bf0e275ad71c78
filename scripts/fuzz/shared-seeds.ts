/** Seeds from the shared data, read in place; none where it is missing. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const data = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

/** Paths below the shared data whose name ends so, in order of their names. */
export function sharedFiles(ending: string, maxBytes: number): string[] {
  if (!existsSync(data)) return [];
  return readdirSync(data, { recursive: true })
    .map((name) => join(data, String(name)))
    .filter((path) => path.endsWith(ending) && statSync(path).size <= maxBytes)
    .sort();
}

export function sharedInputs(ending: string, maxBytes: number): Uint8Array[] {
  return sharedFiles(ending, maxBytes).map((path) => readFileSync(path));
}
