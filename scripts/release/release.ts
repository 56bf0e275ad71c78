/**
 * Makes the files of a release in a folder, and publishes nothing unless asked to.
 *
 *     npm run release -- [--out release] [--address https://.../v0.1.0] [--publish]
 *
 * 1. Packs the package twice, and compares the digests: the tarball is reproducible.
 * 2. Writes the bill of materials of the package, as npm makes it.
 * 3. Writes the formula of Homebrew for the single programs in the folder (`npm run dist`), with `--address`, under which they will be found.
 * 4. Writes SHA256SUMS of all files.
 * 5. `npm publish --dry-run`, or `npm publish --provenance` with `--publish`, which works in the release workflow alone: npm wants its identity.
 *
 * The version must have a section in CHANGELOG.md, and the commit no changes that are not committed when it is published. The exit code is 1 where something is missing.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot as root } from "../../src/bundling/write-bundle.ts";
import { describeFormula } from "./homebrew.ts";
import { stableMaterials } from "./sbom.ts";

const { values } = parseArgs({
  options: { out: { type: "string" }, address: { type: "string" }, publish: { type: "boolean", default: false } },
});
const out = resolve(root, values.out ?? "release");
const { version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, string>;
if (version === undefined || description === undefined) throw new Error("package.json has no version or no description");
const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 });

const section = new RegExp(`^## ${version.replaceAll(".", "\\.")}(?: - (.*))?$`, "m").exec(
  readFileSync(join(root, "CHANGELOG.md"), "utf8"),
);
if (section === null) throw new Error(`CHANGELOG.md has no section ${version}`);
if (values.publish) {
  if (section[1] === "unreleased") throw new Error(`CHANGELOG.md calls ${version} unreleased: give it its date`);
  if (run("git", "status", "--porcelain") !== "") throw new Error("there are changes that are not committed");
}

mkdirSync(out, { recursive: true });
const tarball = packTwice();
writeFileSync(
  join(out, `${tarball}.cdx.json`),
  stableMaterials(run("npm", "sbom", "--sbom-format=cyclonedx", "--omit=dev", "--omit=optional", "--omit=peer")),
);
if (values.address === undefined) console.log("no formula of Homebrew: --address says where the programs will be");
else writeFileSync(join(out, "inferyard.rb"), describeFormula(out, version, values.address, description));
const files = readdirSync(out).filter((name) => name !== "SHA256SUMS" && statSync(join(out, name)).isFile());
const sums = files.toSorted().map(
  (name) =>
    `${createHash("sha256")
      .update(readFileSync(join(out, name)))
      .digest("hex")}  ${name}\n`,
);
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());
const access = values.publish ? ["--provenance"] : ["--dry-run"];
execFileSync("npm", ["publish", join(out, tarball), "--ignore-scripts", "--access=public", ...access], {
  cwd: root,
  stdio: "inherit",
});

/** Packs into `out`. Throws if a second time gives other bytes. */
function packTwice(): string {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), "inferyard-release-")));
  try {
    const packed = folders.map((folder) => {
      const [made] = JSON.parse(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder)) as {
        filename: string;
        integrity: string;
      }[];
      if (made === undefined) throw new Error("npm pack made nothing");
      return { ...made, path: join(folder, made.filename) };
    });
    const [first, second] = packed;
    if (first === undefined || first.integrity !== second?.integrity)
      throw new Error("npm pack gave other bytes the second time");
    copyFileSync(first.path, join(out, first.filename));
    console.log(`${first.filename}   ${first.integrity}`);
    return first.filename;
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}
