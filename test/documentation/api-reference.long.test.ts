import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("the API reference can be written, and no link of the docstrings leads nowhere", () => {
  const args = ["--import", "tsx", "scripts/generate/api-reference.ts", "--check"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, "", ""]);
});
