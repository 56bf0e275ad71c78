import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildDigest } from "./build-digest.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "inferyard-build-"));
  write("package.json", '{"name":"inferyard"}');
  write("dist/index.js", "export const a = 1;");
  write("dist/browser/index.js", "export const b = 1;");
  write("dist/index.js.map", "{}");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The digest for a thread that starts in a minute, and so after all changes. */
const digest = (path = "dist/index.js"): string | undefined =>
  buildDigest(pathToFileURL(join(root, path)).href, Date.now() + 60_000);

describe("the digest of a build", () => {
  it("is the same for all its modules, and only their code counts", () => {
    const first = digest();
    expect(first).toMatch(/^[\da-f]{64}$/);
    expect(digest("dist/browser/index.js")).toBe(first);
    write("dist/index.js.map", '{"version":3}');
    write("README.md", "changed");
    expect(digest()).toBe(first);
  });

  it.each([
    ["a changed file", "dist/index.js", "export const a = 2;"],
    ["a changed file of the same length", "dist/browser/index.js", "export const b = 2;"],
    ["a file more", "dist/chunk.js", ""],
  ])("is another one after %s", (_what, path, text) => {
    const first = digest();
    write(path, text);
    expect(digest()).not.toBe(first);
  });

  it("is unknown where a file was changed after this thread started: it may run what was there before", () => {
    expect(buildDigest(pathToFileURL(join(root, "dist/index.js")).href, Date.now() - 3_600_000)).toBeUndefined();
  });

  it("is unknown for sources, for code that another program has bundled, and for no file", () => {
    expect(buildDigest(import.meta.url)).toBeUndefined();
    expect(digest("src/index.js")).toBeUndefined();
    write("package.json", '{"name":"another"}');
    expect(digest()).toBeUndefined();
    write("package.json", "{");
    expect(digest()).toBeUndefined();
    expect(buildDigest("data:text/javascript,0")).toBeUndefined();
  });
});
