import { spawnSync } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isInferenceLibrary } from "./library-names.ts";
import { scanLocation } from "./scan-location.ts";
import { UniqueFiles } from "./unique-files.ts";

let root = "";
let folder = "";
beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), "inferyard-scan-"))));
beforeEach(async () => void (folder = await mkdtemp(join(root, "case-"))));
afterAll(async () => await rm(root, { recursive: true }));

const isRoot = process.getuid?.() === 0;

async function write(...path: readonly string[]): Promise<string> {
  const file = join(folder, ...path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, path.join("/"));
  return file;
}

describe("isInferenceLibrary", () => {
  it.each([
    "libllama.so",
    "libllama.cuda.v0.5.0.so",
    "libggml-cpu-zen4.so",
    "libbitnet.a",
    "libonnxruntime.so.1.30.0",
    "libonnxruntime.1.30.0.dylib",
    "onnxruntime.dll",
    "pjrt_c_api_cpu_plugin.so",
    "xla_cuda_plugin.so",
    "libcuda.so.1",
    "libcudart.so.12.4.127",
    "cudart64_12.dll",
    "libcublasLt.so.12",
    "libcudnn_ops.so.9",
    "libcusparseLt.so.0",
    "libmkl_rt.so.2",
    "libdnnl.so.3",
    "libopenblasp-r0.3.21.so",
    "libblis.so.4",
    "libgomp.so.1",
    "libgomp-a34b3233.so.1.0.0",
    "libomp.dylib",
    "libiomp5md.dll",
    "libnnpack.so",
    "libnrt.so.1",
    "libtriton.so",
  ])("%s is one", (name) => expect(isInferenceLibrary(name)).toBe(true));

  it.each(["libz.so.1", "libcudadebugger.so.1", "libllama.so.txt", "libllama", "llama.py", "libompl.so", "libgomp.spec", ".so"])(
    "%s is none",
    (name) => expect(isInferenceLibrary(name)).toBe(false),
  );
});

describe("scanLocation", () => {
  it("lists libraries of a folder, and of subfolders down to the depth", async () => {
    const files = [await write("libllama.so"), await write("a", "libggml.so"), await write("a", "b", "libomp.so")];
    await write("notes.txt");
    expect(await scanLocation(folder, 0)).toEqual({ outcome: "found", files: files.slice(0, 1), notes: [] });
    expect((await scanLocation(folder, 1)).files).toEqual([files[1], files[0]]);
    expect((await scanLocation(folder, 9)).files).toHaveLength(3);
  });

  it("takes a file that is named itself, whatever its name", async () => {
    const file = await write("plugin.bin");
    expect(await scanLocation(file, 0)).toEqual({ outcome: "found", files: [file], notes: [] });
  });

  it("tells an empty folder from one that is not there", async () => {
    expect(await scanLocation(folder, 3)).toEqual({ outcome: "empty", files: [], notes: [] });
    expect(await scanLocation(join(folder, "none"), 3)).toMatchObject({ outcome: "absent", notes: [expect.any(String)] });
    expect(await scanLocation(join(await write("file"), "lib"), 0)).toMatchObject({ outcome: "absent" });
  });

  it("follows no cycle of links", async () => {
    await write("a", "libllama.so");
    await symlink(folder, join(folder, "a", "up"));
    await symlink("loop", join(folder, "loop"));
    expect((await scanLocation(folder, 1000)).files).toEqual([join(folder, "a", "libllama.so")]);
    expect(await scanLocation(join(folder, "loop"), 1)).toMatchObject({
      outcome: "unreadable",
      notes: [expect.stringContaining("ELOOP") as string],
    });
  });

  it.skipIf(isRoot)(isRoot ? "skipped: root reads every folder" : "tells folders that it may not read", async () => {
    await write("libllama.so");
    await write("closed", "libggml.so");
    await chmod(join(folder, "closed"), 0o000);
    const { outcome, files, notes } = await scanLocation(folder, 1);
    expect({ outcome, files: files.length }).toEqual({ outcome: "found", files: 1 });
    expect(notes).toEqual([expect.stringContaining("EACCES")]);
    expect(await scanLocation(join(folder, "closed"), 0)).toMatchObject({ outcome: "unreadable" });
  });

  it.skipIf(process.platform === "win32")("does not wait for pipes", async () => {
    const pipe = join(folder, "libllama.so");
    spawnSync("mkfifo", [pipe]);
    expect(await scanLocation(folder, 0)).toEqual({ outcome: "empty", files: [], notes: [] });
    expect(await scanLocation(pipe, 0)).toMatchObject({ outcome: "unreadable" });
  });

  it("stops at its limits, and says so", async () => {
    for (let index = 0; index < 30; index++) await write(`libggml-${index}.so`);
    const few = await scanLocation(folder, 0, { limits: { entries: 1000, libraries: 10 } });
    expect(few.files).toHaveLength(10);
    expect(few.notes).toEqual([expect.stringMatching(/stopped at \d+ entries and 10 libraries/)]);
    expect((await scanLocation(folder, 0, { limits: { entries: 5, libraries: 100 } })).notes).toHaveLength(1);
    for (let index = 0; index < 30; index++) await write("below", String(index), "libomp.so");
    const { files, notes } = await scanLocation(join(folder, "below"), 5, { limits: { entries: 40, libraries: 1000 } });
    expect({ some: files.length < 30, notes: notes.length }).toEqual({ some: true, notes: 1 });
  });

  it("ends when it is aborted", async () => {
    await write("libllama.so");
    await expect(scanLocation(folder, 0, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("UniqueFiles", () => {
  it("takes symbolic and hard links to one file as one", async () => {
    const file = await write("libllama.so.1");
    const paths = [join(folder, "libllama.so"), join(folder, "hard.so"), file];
    await symlink("libllama.so.1", join(folder, "libllama.so"));
    await link(file, join(folder, "hard.so"));
    const files = new UniqueFiles<string>();
    for (const path of [...paths, ...paths]) expect(await files.add(path, "why")).toBeUndefined();
    expect(files.list()).toEqual([{ path: file, paths, bytes: 13, origins: ["why"] }]);
  });

  it("says why a path leads to no file", async () => {
    await symlink("nowhere", join(folder, "dangling.so"));
    const files = new UniqueFiles<string>();
    expect(await files.add(join(folder, "dangling.so"), "why")).toContain("ENOENT");
    expect(await files.add(folder, "why")).toContain("is no regular file");
    expect(files.list()).toEqual([]);
  });
});
