/** `npm run check:package`: what would be published keeps the rules of packages, for every way to import its types, and runs without optional packages. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("the tarball keeps the rules of packages, and runs", () => {
  const program = fileURLToPath(new URL("../../scripts/package/check-pack.mjs", import.meta.url));
  expect(execFileSync(process.execPath, [program], { encoding: "utf8" })).toMatch(
    /^package: \d+ files, .* embeds on native:cpu$/m,
  );
});
