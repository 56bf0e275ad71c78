/** The tarball of the package is reproducible. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

it("packs to the same bytes twice", () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-pack-"));
  try {
    const pack = (): string => {
      const printed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
        encoding: "utf8",
      });
      return (JSON.parse(printed) as { integrity: string }[])[0]!.integrity;
    };
    expect(pack()).toBe(pack());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
