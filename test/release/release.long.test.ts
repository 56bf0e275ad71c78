/** A release without publishing: two tarballs with the same bytes, bills of materials that CycloneDX's own validator accepts, and a licence of everything bundled. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleAssets } from "../../scripts/release/assets.ts";
import { type Component, npmComponents } from "../../scripts/release/components.ts";
import { describeMaterials } from "../../scripts/release/sbom.ts";
import { version } from "../../src/version.ts";
import { installPython, needsInstalled, runPython } from "../fixtures/installed.ts";
import { onRequest } from "../fixtures/slow.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-release-"));
let components: readonly Component[] = [];
let materials = "";
beforeAll(async () => {
  components = npmComponents((await bundleAssets(join(folder, "bundle"))).packages);
  materials = describeMaterials({ name: "inferyard", version, type: "application" }, components);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Licences that allow a program like this to contain the package. */
const allowed =
  /^\(?(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|LGPL-(?:2\.1-only|3\.0-or-later))(?: (?:OR|AND) [\w.-]+)*\)?$/;

describe("what single programs contain", () => {
  it("has a licence that allows it, with its text", () => {
    expect(components.length).toBeGreaterThan(20);
    expect(components.filter(({ license = "" }) => !allowed.test(license)).map(({ purl, license }) => [purl, license])).toEqual(
      [],
    );
    expect(components.filter(({ texts }) => texts.length === 0).map(({ purl }) => purl)).toEqual([]);
  });
});

describe("bills of materials by cyclonedx-python-lib", () => {
  needsInstalled(() => installPython(folder, ["cyclonedx-python-lib[json-validation]==11.12.0"]));

  it("fit the schema of CycloneDX", () => {
    const program = [
      "import json, os",
      "from cyclonedx.schema import SchemaVersion",
      "from cyclonedx.validation.json import JsonStrictValidator",
      "error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(os.environ['MATERIALS'])",
      "print(json.dumps(None if error is None else str(error)))",
    ];
    const check = (text: string): unknown => runPython(folder, program, { MATERIALS: text });
    expect(check(materials)).toBeNull();
    expect(check(materials.replace('"application"', '"program"'))).toContain("program");
  });
});

describe.skipIf(onRequest("")[0])(onRequest("npm run release", "it packs the package three times")[1], () => {
  it("makes the files of a release, and publishes nothing", () => {
    const out = join(folder, "out");
    const printed = execFileSync("npm", ["run", "--silent", "release", "--", "--out", out], { encoding: "utf8", stdio: "pipe" });
    expect(printed).toContain(`inferyard-${version}.tgz   sha512-`);
    const tarball = readFileSync(join(out, `inferyard-${version}.tgz`));
    const digest = createHash("sha256").update(tarball).digest("hex");
    expect(readFileSync(join(out, "SHA256SUMS"), "utf8")).toContain(`${digest}  inferyard-${version}.tgz\n`);
    const bill = JSON.parse(readFileSync(join(out, `inferyard-${version}.tgz.cdx.json`), "utf8")) as {
      components: { name: string }[];
    };
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    expect(bill.components.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  });
});
