/**
 * Prints docstrings of exported declarations of src/, chosen at random, to be read without the code: `npm run sample:docstrings -- --seed 1`. The same seed
 * and the same sources give the same sample.
 */
import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.ts";
import { limits } from "../layout/layout.ts";
import { type Docstring, readDocstrings } from "./exported-docstrings.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "40" },
    under: { type: "string", default: "src" },
    json: { type: "boolean", default: false },
  },
});

const all = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
  .filter((file) => file.startsWith(`${values.under}/`) && !limits.generated.includes(file))
  .sort()
  .flatMap((file) => readDocstrings(root, file));

const sample = chooseDocstrings(all, Number(values.count), new Random(Number(values.seed)));
if (values.json) console.log(JSON.stringify(sample, undefined, 2));
else for (const { file, line, name, text } of sample) console.log(`${file}:${line}  ${name}\n  ${text}\n`);

/** `count` different docstrings, in the order in which they are drawn. */
function chooseDocstrings(docstrings: readonly Docstring[], count: number, random: Random): readonly Docstring[] {
  const left = [...docstrings];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.below(left.length), 1)).flat();
}
