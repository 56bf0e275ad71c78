import { execFileSync } from "node:child_process";
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeAtomically } from "./atomic-write.ts";

let folder = "";
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-atomic-"))));
afterEach(async () => await rm(folder, { recursive: true }));

const write = (name: string): Promise<void> => writeAtomically(join(folder, name), (file) => file.writeFile("new"));

describe("writeAtomically", () => {
  it("creates a file and replaces one", async () => {
    await writeFile(join(folder, "old"), "old");
    for (const name of ["old", "none"]) {
      await write(name);
      expect(await readFile(join(folder, name), "utf8")).toBe("new");
    }
    expect(await readdir(folder)).toEqual(["none", "old"]);
  });

  it.skipIf(process.platform === "win32")("replaces the file that a link leads to, and keeps the link", async () => {
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere", "file"), "old");
    await symlink(join("elsewhere", "file"), join(folder, "link"));
    await write("link");
    expect(await readFile(join(folder, "elsewhere", "file"), "utf8")).toBe("new");
    expect((await lstat(join(folder, "link"))).isSymbolicLink()).toBe(true);
    expect(await readdir(join(folder, "elsewhere"))).toEqual(["file"]);
  });

  it.skipIf(process.platform === "win32")("replaces no pipe and no folder, and leaves nothing behind", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await mkdir(join(folder, "folder"));
    await symlink("pipe", join(folder, "link"));
    await expect(write("link")).rejects.toMatchObject({ code: "EINVAL" });
    await expect(write("pipe")).rejects.toMatchObject({
      code: "EINVAL",
      message: expect.stringContaining("is no regular file") as string,
    });
    await expect(write("folder")).rejects.toMatchObject({ code: "EISDIR" });
    expect((await lstat(join(folder, "pipe"))).isFIFO()).toBe(true);
    expect(await readdir(folder)).toEqual(["folder", "link", "pipe"]);
  });
});
