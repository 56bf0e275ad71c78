/**
 * Builds single programs: Node.js with the bundle and the built-in model inside, and for `inferyard-omni` the engines as well.
 *
 *     npm run dist -- [--target linux-x64] [--flavor inferyard] [--out release]
 *
 * Without flags: every target and flavor. Beside each program are its bill of materials (`.cdx.json`, CycloneDX) and the licences of what it contains (`.licenses.txt`). The sizes are printed beside their budgets; a program over its budget makes the command fail.
 */
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { packageRoot as root } from "../../src/bundling/write-bundle.ts";
import { buildProgram } from "./build-program.ts";
import { bundleAssets } from "./assets.ts";
import { flavors, targets } from "./targets.ts";

const { values } = parseArgs({
  options: { target: { type: "string", multiple: true }, flavor: { type: "string", multiple: true }, out: { type: "string" } },
});
for (const [flag, named, known] of [
  ["target", values.target, targets.map(({ name }) => name)],
  ["flavor", values.flavor, flavors],
] as const) {
  const wrong = named?.find((name) => !known.some((each) => each === name));
  if (wrong !== undefined) throw new Error(`--${flag} ${wrong} is none of ${known.join(", ")}`);
}
const out = resolve(values.out ?? resolve(root, "release"));
const bundle = await bundleAssets(resolve(out, "bundle"));
for (const target of targets.filter(({ name }) => values.target?.includes(name) ?? true)) {
  for (const flavor of flavors.filter((name) => values.flavor?.includes(name) ?? true)) {
    const { path, size, gzip, notes } = await buildProgram({ target, flavor, bundle, out });
    const budget = target.budget?.[flavor];
    const megabytes = (bytes: number, limit: number | undefined): string =>
      `${(bytes / 1e6).toFixed(1)} MB${limit === undefined ? "" : ` of ${limit}`}`;
    console.log([path, megabytes(size, budget?.size), `gzip ${megabytes(gzip, budget?.gzip)}`, ...notes].join("   "));
    if (budget !== undefined && (size > budget.size * 1e6 || gzip > budget.gzip * 1e6)) process.exitCode = 1;
  }
}
