import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildDigest } from "../platform/node/build-digest.ts";
import { rememberedBuildDigest } from "./build-record.ts";
import { toSha256 } from "./sha256.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "inferyard-builds-"));
  mkdirSync(join(root, "dist"));
  write("package.json", '{"name":"inferyard"}');
  write("dist/index.js", 'import "./other.js";');
  write("dist/other.js", "export const one = 1;");
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
/** Of a thread that starts in a minute, and so after all changes. */
const later = (): number => Date.now() + 60_000;
const modules = (): readonly string[] => [pathToFileURL(join(root, "dist/index.js")).href];
const folder = (): string => join(root, "data", "builds");
const remembered = (): string | undefined => rememberedBuildDigest(modules(), folder(), later());
const record = (): string => join(folder(), readdirSync(folder())[0]!);

describe("the digest of a build that is remembered", () => {
  it("is the digest of its files, and another one once any of them changes", () => {
    const first = remembered();
    expect(first).toBe(buildDigest(modules(), later()));
    expect(remembered()).toBe(first);
    write("dist/other.js", "export const one = 2;");
    const second = remembered();
    expect(second).not.toBe(first);
    expect(second).toBe(buildDigest(modules(), later()));
    rmSync(join(root, "dist/other.js"));
    expect(remembered()).toBeUndefined();
  });

  it("counts for nothing where its record is damaged", () => {
    const right = remembered();
    const text = readFileSync(record(), "utf8");
    const forged = text.replace(right!, "0".repeat(64));
    writeFileSync(record(), forged);
    expect(remembered()).toBe(right);
    writeFileSync(record(), "{");
    expect(remembered()).toBe(right);
  });

  it.skipIf(process.platform === "win32")("is not taken from a record that others could have written", () => {
    const right = remembered();
    for (const path of [record(), folder()]) {
      const record = join(folder(), readdirSync(folder())[0]!);
      const text = readFileSync(record, "utf8");
      const build = { ...(JSON.parse(text) as { build: object }).build, digest: "0".repeat(64) };
      writeFileSync(record, JSON.stringify({ build, check: toSha256(JSON.stringify(build)) }));
      expect(remembered()).toBe("0".repeat(64)); // as long as nobody else could have written it
      chmodSync(path, 0o777);
      expect(remembered()).toBe(right);
      chmodSync(path, 0o700);
    }
  });

  it("is not known where a file was changed after the start, whatever the record says", () => {
    remembered();
    expect(rememberedBuildDigest(modules(), folder(), Date.now() - 60_000)).toBeUndefined();
  });

  it("is computed where no record can be written", () => {
    write("data", "a file");
    expect(remembered()).toBe(buildDigest(modules(), later()));
  });
});
