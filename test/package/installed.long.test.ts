/** The tarball as npm installs it into an empty project: no optional package comes with it, and it embeds. What is in it, `npm run check:package` checks. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { needsInstalled, problemOf } from "../fixtures/installed.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-installed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const run = (cwd: string, command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: "pipe", shell: process.platform === "win32" });

needsInstalled(() =>
  problemOf(() => {
    const packed = run(root, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }\n');
    run(folder, "npm", "install", "--no-audit", "--no-fund", "--omit=optional", "--fetch-retries=1", join(folder, filename));
  }),
);

it("needs no optional package, and its program embeds", () => {
  expect(existsSync(join(folder, "node_modules/inferyard"))).toBe(true);
  expect(existsSync(join(folder, "node_modules/onnxruntime-node"))).toBe(false);
  const answer = JSON.parse(run(folder, "npx", "inferyard", "embed", "--json", "hello")) as {
    target: string;
    dimensions: number;
    embeddings: number[][];
  };
  expect(answer.target).toBe("native:cpu");
  expect(answer.embeddings[0]).toHaveLength(answer.dimensions);
});
