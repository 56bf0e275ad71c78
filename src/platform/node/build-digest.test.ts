import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildDigest } from "./build-digest.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "inferyard-build-"));
  write("package.json", '{"name":"inferyard"}');
  write(
    "dist/index.js",
    'import { b } from "./chunks/b.js";\nexport {\n  c,\n  d,\n} from "./c.js";\nconst later = () => import("./later.js");',
  );
  write("dist/chunks/b.js", 'import"../c.js";\nexport const b = 1;');
  write("dist/c.js", "import './index.js';\nexport const [c, d] = [1, 2];"); // a circle
  write("dist/later.js", "export {};");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The digest for a thread that starts in a minute, and so after all changes. */
const digest = (path = "dist/index.js"): string | undefined =>
  buildDigest([pathToFileURL(join(root, path)).href], Date.now() + 60_000);

describe("the digest of a build", () => {
  it("is that of a module and of all that it imports, and only their code counts", () => {
    const first = digest();
    expect(first).toMatch(/^[\da-f]{64}$/);
    write("dist/index.js.map", "{}");
    write("dist/later.js", "changed();");
    write("README.md", "changed");
    expect(digest()).toBe(first);
  });

  it.each([
    ["the module", "dist/index.js"],
    ["a module that it imports", "dist/chunks/b.js"],
    ["a module that one of these imports", "dist/c.js"],
  ])("is another one after a change of %s, also of the same length", (_what, path) => {
    const before = readFileSync(join(root, path), "utf8");
    const digests = [before, before.replace("const", "CONST"), `${before}\n`].map((text) => {
      write(path, text);
      return digest();
    });
    expect(new Set(digests).size).toBe(3);
  });

  it("is unknown where a module is missing", () => {
    rmSync(join(root, "dist/c.js"));
    expect(digest()).toBeUndefined();
  });

  it("is unknown where a file was changed after this thread started: it may run what was there before", () => {
    expect(buildDigest([pathToFileURL(join(root, "dist/index.js")).href], Date.now() - 3_600_000)).toBeUndefined();
  });

  it("is unknown for sources, for code that another program has bundled, and for no file", () => {
    expect(buildDigest([import.meta.url])).toBeUndefined();
    expect(digest("src/index.js")).toBeUndefined();
    write("package.json", '{"name":"another"}');
    expect(digest()).toBeUndefined();
    write("package.json", "{");
    expect(digest()).toBeUndefined();
    expect(buildDigest(["data:text/javascript,0"])).toBeUndefined();
  });
});
