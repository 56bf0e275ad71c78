/** Files of a release: bill of materials, licences, formula, workflow. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Component, describeLicenses, npmComponents, packageFolders } from "../../scripts/release/components.ts";
import { describeFormula } from "../../scripts/release/homebrew.ts";
import { describeMaterials, readMaterials, stableMaterials } from "../../scripts/release/sbom.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-release-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const subject = { name: "inferyard", version: "1.2.3", type: "application" } as const;
const components: readonly Component[] = [
  { name: "b", version: "2.0.0", purl: "pkg:npm/b@2.0.0", license: "(MIT OR Apache-2.0)", texts: ["text of b"] },
  { name: "a", version: "1.0.0", purl: "pkg:npm/a@1.0.0", license: "MIT", texts: [] },
];

describe("a bill of materials", () => {
  it("is the same for the same components in any order, and another for others", () => {
    const text = describeMaterials(subject, components);
    expect(describeMaterials(subject, [...components, ...components].toReversed())).toBe(text);
    const other = JSON.parse(describeMaterials(subject, components.slice(1))) as { serialNumber: string };
    expect(other.serialNumber).not.toBe((JSON.parse(text) as { serialNumber: string }).serialNumber);
    expect(other.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("has ids and expressions of SPDX apart, and is read as it was written", () => {
    const text = describeMaterials(subject, components);
    const { components: listed } = JSON.parse(text) as { components: { licenses: unknown }[] };
    expect(listed.map(({ licenses }) => licenses)).toEqual([
      [{ license: { id: "MIT" } }],
      [{ expression: "(MIT OR Apache-2.0)" }],
    ]);
    expect(describeMaterials(subject, readMaterials(text))).toBe(text);
  });

  it("of npm keeps all but its time and its random number", () => {
    const made = (serialNumber: string, timestamp: string): string =>
      stableMaterials(
        JSON.stringify({
          bomFormat: "CycloneDX",
          serialNumber,
          metadata: { timestamp, component: { "bom-ref": "inferyard@0.1.0", name: "work" } },
        }),
      );
    expect(made("urn:uuid:1", "now")).toBe(made("urn:uuid:2", "later"));
    expect(JSON.parse(made("urn:uuid:1", "now"))).toMatchObject({
      bomFormat: "CycloneDX",
      metadata: { component: { name: "inferyard" } },
    });
  });
});

it("licences are read beside each package, and of packages inside packages too", () => {
  const write = (path: string, content: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write("node_modules/a/package.json", '{ "name": "a", "version": "1.0.0", "license": "MIT" }');
  write("node_modules/a/LICENSE.md", "text of a\n");
  write("node_modules/a/license.js", "code");
  write("node_modules/a/node_modules/@x/b/package.json", '{ "name": "@x/b", "version": "2.0.0", "license": "ISC" }');
  write("node_modules/a/node_modules/@x/b/NOTICE", "notice of b\n");
  const found = npmComponents(packageFolders(folder), folder);
  expect(found.map(({ purl, texts }) => [purl, texts])).toEqual([
    ["pkg:npm/a@1.0.0", ["text of a"]],
    ["pkg:npm/%40x/b@2.0.0", ["notice of b"]],
  ]);
  expect(describeLicenses(found)).toContain("a 1.0.0: MIT\n\ntext of a\n");
});

describe("the formula of Homebrew", () => {
  const programs = join(folder, "programs");
  mkdirSync(programs);
  const address = "https://example.org/v1.2.3";
  const describeIt = (at = address): string => describeFormula(programs, "1.2.3", at, "A short description.");

  it("names the program of each machine with its digest", () => {
    expect(() => describeIt()).toThrow(/npm run dist/);
    for (const name of ["linux-x64", "darwin-arm64", "win-x64.exe"]) writeFileSync(join(programs, `inferyard-${name}`), name);
    const formula = describeIt();
    expect(formula).toContain(["  on_macos do", "    on_arm do", `      url "${address}/inferyard-darwin-arm64"`].join("\n"));
    expect(formula).toContain(`      sha256 "${createHash("sha256").update("linux-x64").digest("hex")}"`);
    expect(formula).not.toContain("win-x64");
    const opened = formula.match(/^\s*(?:class|def|test do|service do|on_\w+ do)\b/gm)?.length;
    expect(formula.match(/^\s*end$/gm)).toHaveLength(opened!);
  });

  it("is refused for an address without TLS", () => {
    expect(() => describeIt("http://example.org")).toThrow("not an address of HTTPS");
  });
});

describe("the workflow of releases", () => {
  const workflow = parse(readFileSync(".github/workflows/release.yml", "utf8")) as {
    on: { push: { tags: string[] } };
    permissions: Record<string, string>;
    jobs: { release: { steps: { run?: string; if?: string }[] } };
  };
  const { steps } = workflow.jobs.release;

  it("runs scripts that the package has, and publishes for tags alone", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    const called = steps.flatMap(({ run = "" }) => [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!));
    expect(called.filter((name) => !(name in scripts))).toEqual([]);
    expect(called).toEqual(expect.arrayContaining(["dist", "image", "check:chart", "release"]));
    const publishing = steps.filter(({ run = "" }) => run.includes("--publish"));
    expect(publishing.map((step) => step.if)).toEqual(["startsWith(github.ref, 'refs/tags/v')"]);
    expect(workflow.permissions["id-token"]).toBe("write");
  });
});
