import { lstat, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Settings } from "./settings.ts";
import { writeSettings } from "./write.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-write-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(before: string | undefined, values: Settings): Promise<string> {
  const path = join(folder, "inferyard.yaml");
  if (before !== undefined) await writeFile(path, before);
  await writeSettings(path, values);
  expect(await readdir(folder)).toEqual(["inferyard.yaml"]);
  return readFile(path, "utf8");
}

describe("writing settings", () => {
  it.each([
    ["makes the file", undefined, { threads: 2 }, "threads: 2\n"],
    ["adds to an empty one", "", { threads: 2, replicas: "auto" }, "threads: 2\nreplicas: auto\n"],
    [
      "adds after the last line, also where it has no end",
      "model: ./m # mine",
      { threads: 2 },
      "model: ./m # mine\nthreads: 2\n",
    ],
    [
      "changes the value and nothing else: comments, odd spacing, quotes and lists stay",
      "# head\nmodel:   './m'   # why\nthreads:  8 # was 8\nprefer: [onnx:cuda,onnx]\n\n\nexclude:\n    - wasm\n# tail\n",
      { threads: 1, batchTokens: 1024 },
      "# head\nmodel:   './m'   # why\nthreads:  1 # was 8\nprefer: [onnx:cuda,onnx]\n\n\nexclude:\n    - wasm\n# tail\nbatchTokens: 1024\n",
    ],
    ["a file of comments", "# nothing yet\n", { threads: 2 }, "# nothing yet\nthreads: 2\n"],
    ["a file in flow style", "{ threads: 8, model: ./m }\n", { threads: 1 }, "{ threads: 1, model: ./m }\n"],
  ] as [string, string | undefined, Settings, string][])("%s", async (_name, before, values, after) => {
    expect(await written(before, values)).toBe(after);
  });

  it("a file that ends its document is changed in a way that still holds", async () => {
    expect(await written("threads: 2\n...\n", { batchTokens: 256 })).toMatch(/threads: 2\nbatchTokens: 256\n/);
  });

  it("a file with a mistake is refused and stays as it is", async () => {
    const path = join(folder, "inferyard.yaml");
    await writeFile(path, "thread: 2\n");
    await expect(writeSettings(path, { threads: 1 })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await readFile(path, "utf8")).toBe("thread: 2\n");
  });

  it("a link stays a link, and the file keeps its permissions", async () => {
    const real = join(folder, "real.yaml");
    await writeFile(real, "threads: 2\n", { mode: 0o600 });
    const link = join(folder, "inferyard.yaml");
    await symlink(real, link);
    await writeSettings(link, { threads: 1 });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(real, "utf8")).toBe("threads: 1\n");
    expect((await stat(real)).mode & 0o777).toBe(0o600);
  });

  it("a folder that is not there is OUTPUT_FAILED", async () => {
    await expect(writeSettings(join(folder, "no", "inferyard.yaml"), { threads: 1 })).rejects.toMatchObject({
      code: "OUTPUT_FAILED",
    });
  });
});
