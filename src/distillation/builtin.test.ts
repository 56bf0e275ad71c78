/** The model that ships with the package, as `scripts/build-builtin/main.ts` left it. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../builtin/", import.meta.url));

describe("builtin", () => {
  it("is small, whole, and keeps the teacher's licence", async () => {
    const files = await readdir(folder);
    const sizes = await Promise.all(files.map(async (file) => (await stat(folder + file)).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(4_500_000);
    const { variants } = JSON.parse(await readFile(`${folder}inferyard.json`, "utf8")) as {
      variants: Record<string, { file: string; sha256: string; size: number }>;
    };
    const { file = "", sha256, size } = variants["int4"] ?? {};
    const weights = await readFile(folder + file);
    expect(weights.length).toBe(size);
    expect(createHash("sha256").update(weights).digest("hex")).toBe(sha256);
    expect(await readFile(`${folder}LICENSE`, "utf8")).toContain("Apache License");
    expect(await readFile(`${folder}NOTICE`, "utf8")).toContain("all-MiniLM-L6-v2");
  });

  it("says where it comes from and how good it is", async () => {
    const { provenance, license } = JSON.parse(await readFile(`${folder}inferyard.json`, "utf8")) as {
      license: string;
      provenance: { text: { license: string; sentences: number }[]; stsbEnglishSpearman: { test: number } };
    };
    expect(license).toBe("Apache-2.0");
    expect(provenance.stsbEnglishSpearman.test).toBeGreaterThanOrEqual(0.72);
    expect(provenance.text.every(({ license, sentences }) => license !== "" && sentences > 0)).toBe(true);
  });
});
