/**
 * Builds images of the single program for linux x64.
 *
 *     npm run dist -- --target linux-x64 --flavor inferyard && npm run image -- [--flavor inferyard-omni] [--out release]
 *
 * Without a flavor: both. Needs Debian, root and buildah. The images are inferyard:VERSION and inferyard:omni-VERSION; their unpacked sizes are held against their
 * budgets: an image over its budget makes the command fail.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot as repository } from "../../src/bundling/write-bundle.ts";
import { buildImage, imageBudgets } from "./build-image.ts";
import { flavors } from "./targets.ts";

const { values } = parseArgs({ options: { flavor: { type: "string", multiple: true }, out: { type: "string" } } });
const wrong = values.flavor?.find((name) => !flavors.some((each) => each === name));
if (wrong !== undefined) throw new Error(`--flavor ${wrong} is none of ${flavors.join(", ")}`);
const out = resolve(values.out ?? join(repository, "release"));
for (const flavor of flavors.filter((name) => values.flavor?.includes(name) ?? true)) {
  const { tag, size, notes } = await buildImage(flavor, out);
  console.log([tag, `${(size / 1e6).toFixed(1)} MB of ${imageBudgets[flavor]}`, ...notes].join("   "));
  if (size > imageBudgets[flavor] * 1e6) process.exitCode = 1;
}
