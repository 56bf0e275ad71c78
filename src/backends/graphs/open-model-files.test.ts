import { mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { OpenModelFiles } from "./open-model-files.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-model-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    Uint8Array.from({ length: 1000 }, (_, index) => index),
  );
  utimesSync(path, 1, 1);
  return path;
}

describe("files of a model while it is loaded", () => {
  it("are read from anywhere, and opened once", async () => {
    const files = new OpenModelFiles();
    const path = written("whole");
    const bytes = await files.open(path);
    expect(await files.open(path)).toBe(bytes);
    const target = new Uint8Array(3);
    bytes.read(target, 254);
    expect([bytes.size, ...target]).toEqual([1000, 254, 255, 0]);
    files.close();
  });

  it.each([
    ["was written to", (path: string) => writeFileSync(path, new Uint8Array(1000))],
    ["grew", (path: string) => writeFileSync(path, new Uint8Array(2000))],
    ["was cut off", (path: string) => truncateSync(path, 100)],
  ])("are no longer trusted when one %s", async (name, change) => {
    const files = new OpenModelFiles();
    const path = written(name);
    const bytes = await files.open(path);
    bytes.read(new Uint8Array(500), 0);
    change(path);
    expect(() => bytes.read(new Uint8Array(500), 500)).toThrow(expect.objectContaining({ code: "MODEL_INVALID" }));
    files.close();
  });

  it("are said to be missing where they are", async () => {
    await expect(new OpenModelFiles().open(join(folder, "nowhere"))).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });
});
