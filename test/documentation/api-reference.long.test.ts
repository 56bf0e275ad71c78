import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("docs/reference/api is what the docstrings say: npm run api writes it", () => {
  expect(existsSync(new URL("../../docs/reference/api/inferyard.md", import.meta.url))).toBe(true);
  const check = (): string =>
    execFileSync("npx", ["tsx", "scripts/generate/api-reference.ts", "--check"], { cwd: root, encoding: "utf8" });
  expect(check).not.toThrow();
});
