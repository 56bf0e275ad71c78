/**
 * Builds an image of a single program: a root folder of Debian packages without a shell, and the program.
 *
 *     npm run dist -- --target linux-x64 --flavor inferyard && npm run image -- [--flavor inferyard-omni] [--out release]
 *
 * Needs Debian, root and buildah. The image is inferyard:VERSION, or inferyard:omni-VERSION; its unpacked size is held against its budget.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, lstatSync, chownSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot as repository } from "../../src/bundling/write-bundle.ts";
import { makeDebianRoot } from "./debian-root.ts";

/** Unpacked sizes in MB. */
const budgets: Readonly<Record<string, number>> = { inferyard: 190, "inferyard-omni": 600 };

const { values } = parseArgs({ options: { flavor: { type: "string" }, out: { type: "string" } } });
const { flavor = "inferyard" } = values;
const budget = budgets[flavor];
if (budget === undefined) throw new Error(`--flavor ${flavor} is none of ${Object.keys(budgets).join(", ")}`);
const out = resolve(values.out ?? join(repository, "release"));
const context = join(out, "image");
const root = join(context, "root");
rmSync(context, { recursive: true, force: true });
makeDebianRoot(root);
for (const folder of ["data", "usr/bin"]) mkdirSync(join(root, folder), { recursive: true });
chownSync(join(root, "data"), 65532, 65532);
chmodSync(join(root, "data"), 0o777); // platforms start images with a uid of their own
copyFileSync(join(out, `${flavor}-linux-x64`), join(root, "usr/bin/inferyard"));
const megabytes = sizeOf(root) / 1e6;
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };
const tag = flavor === "inferyard" ? `inferyard:${version}` : `inferyard:omni-${version}`;
const file = join(repository, "deploy/image/Containerfile");
const options = [
  "--isolation",
  "chroot",
  "--build-arg",
  `VERSION=${version}`,
  "--timestamp",
  "0",
  "-f",
  file,
  "-t",
  tag,
  context,
];
execFileSync("buildah", ["bud", ...options], { stdio: ["ignore", "ignore", "inherit"] });
console.log(`${tag}   ${megabytes.toFixed(1)} MB of ${budget}`);
if (megabytes > budget) process.exitCode = 1;

function sizeOf(path: string): number {
  const status = lstatSync(path);
  return status.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : status.size;
}
