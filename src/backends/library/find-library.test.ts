import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { getChange, describeLibrary, findLibrary } from "./find-library.ts";

let root = "";
let folder = "";
beforeAll(async () => void (root = await realpath(await mkdtemp(join(tmpdir(), "inferyard-find-library-")))));
beforeEach(async () => void (folder = await mkdtemp(join(root, "case-"))));
afterAll(async () => await rm(root, { recursive: true }));

async function write(path: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, "library");
  return file;
}

describe("findLibrary", () => {
  it("takes the configured path before LLAMA_CPP_DIR, and nothing without either", async () => {
    const file = await write("libllama.so");
    expect(await findLibrary("/own/libllama.so", { LLAMA_CPP_DIR: folder })).toBe("/own/libllama.so");
    expect(await findLibrary(undefined, { LLAMA_CPP_DIR: folder })).toBe(file);
    for (const environment of [{}, { LLAMA_CPP_DIR: "" }, { LLAMA_CPP_DIR: join(folder, "none") }])
      expect(await findLibrary(undefined, environment)).toBeUndefined();
  });

  it.each(["libllama.so", "libllama.so.0", "libllama.v0.5.0.so", "libllama.b7347.so", "libllama.dylib", "llama.dll"])(
    "takes %s",
    async (name) => {
      const file = await write(`build/bin/${name}`);
      expect(await findLibrary(undefined, { LLAMA_CPP_DIR: folder })).toBe(file);
    },
  );

  it("takes no other library of llama.cpp", async () => {
    for (const name of ["libllama-common.so", "libggml.so", "libllama.so.txt", "libmtmd.so"]) await write(`build/bin/${name}`);
    expect(await findLibrary(undefined, { LLAMA_CPP_DIR: folder })).toBeUndefined();
  });
});

describe("describeLibrary", () => {
  const sha256 = createHash("sha256").update("library").digest("hex");
  const digest = `sha256:${sha256.slice(0, 12)}`;

  it.each([
    ["libllama.v0.5.0.so", `0.5.0 ${digest}`],
    ["libllama.b7347.so", `b7347 ${digest}`],
    ["libllama.so", digest],
  ])("reads the release of %s from its name, and its digest", async (name, version) => {
    const path = await write(name);
    expect((await describeLibrary(path)).file).toEqual({ name, version, path, sha256, files: [{ name, sha256 }] });
  });

  it("reads the release from the name of the file that a link leads to", async () => {
    await write("libllama.v0.5.0.so");
    const path = join(folder, "libllama.so");
    await symlink("libllama.v0.5.0.so", path);
    const files = [{ name: "libllama.so", sha256 }];
    expect((await describeLibrary(path)).file).toEqual({ name: "libllama.so", version: `0.5.0 ${digest}`, path, sha256, files });
  });

  it("says why a file cannot be read, and what to do", async () => {
    const refused = { code: "BACKEND_UNAVAILABLE", remedy: expect.any(String) as string };
    const none = join(folder, "none.so");
    await expect(describeLibrary(none)).rejects.toMatchObject({
      ...refused,
      message: `the library ${none} cannot be read: there is no such file`,
    });
    await expect(describeLibrary(folder)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("is a folder, and a file was expected") as string,
    });
    const pipe = join(folder, "libllama.so");
    execFileSync("mkfifo", [pipe]);
    for (const irregular of [pipe, "/dev/zero"]) {
      await expect(describeLibrary(irregular)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining("is no regular file") as string,
      });
    }
  });
});

it.each([
  ["a file that is new", [{ name: "a", sha256: "1" }], "b is there now"],
  [
    "a file with other content",
    [
      { name: "a", sha256: "1" },
      { name: "b", sha256: "3" },
    ],
    "the sha256 of b is 2, not 3",
  ],
  [
    "a file that is gone",
    [
      { name: "a", sha256: "1" },
      { name: "b", sha256: "2" },
      { name: "c", sha256: "3" },
    ],
    "c is gone",
  ],
  [
    "nothing where the files are the same",
    [
      { name: "b", sha256: "2" },
      { name: "a", sha256: "1" },
    ],
    undefined,
  ],
])("changeOf tells %s", (_name, before, change) => {
  const now = [
    { name: "a", sha256: "1" },
    { name: "b", sha256: "2" },
  ];
  expect(getChange(now, before)).toBe(change);
});
