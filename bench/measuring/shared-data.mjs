// Where the model and the evaluation sets lie: beside the checkout, read in place.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const miniLm = sharedPath("all-MiniLM-L6-v2");
export const stsb = sharedPath("eval/stsb");

export function sharedPath(name) {
  const path = fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url));
  if (existsSync(path)) return path;
  console.error(`${path} is not there: the benchmarks read the shared data beside the checkout`);
  process.exit(1);
}
