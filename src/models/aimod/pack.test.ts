import { createHash } from "node:crypto";
import { chmod, link, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { list } from "tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../index.ts";
import { pack } from "./pack.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "inferyard-pack-"));
});
afterAll(() => rm(root, { recursive: true }));

/** A protobuf field of bytes or of a number below 128. */
function field(number: number, content: Buffer | number): Buffer {
  if (typeof content === "number") return Buffer.from([number * 8, content]);
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
}

/** The smallest ONNX file with a weight of 32 bits. */
const graph = ((): Buffer => {
  const weight = Buffer.concat([field(1, 1), field(2, 1), field(9, Buffer.alloc(4))]);
  return Buffer.concat([field(1, 8), field(7, field(5, weight)), field(8, field(2, 17))]);
})();

/** A model's folder called "small" in a folder of its own. */
async function folder(files: Readonly<Record<string, Buffer | string>> = {}): Promise<string> {
  const path = join(await mkdtemp(join(root, "f-")), "small");
  const all = {
    "onnx/model.onnx": graph,
    "onnx/model_fp16.onnx": graph,
    "config.json": '{"architectures":["BertModel"]}',
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(join(path, name, ".."), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return path;
}

async function namesIn(file: string): Promise<string[]> {
  const names: string[] = [];
  await list({ file, onReadEntry: ({ path }) => names.push(path) });
  return names;
}

async function metadataIn(file: string): Promise<Record<string, unknown>> {
  const manifest = await readManifest(file, { dataFolder: join(root, "data") });
  return JSON.parse(await readFile(join(manifest.directory, "metadata.json"), "utf8")) as Record<string, unknown>;
}

describe("pack", () => {
  it("makes a package that is read as the same model", async () => {
    const path = await folder({ "tokenizer.json": "{}", "README.md": "---\nlicense: mit\n---\n" });
    const output = join(path, "..", "small.aimod");
    const report = await pack(path, { output });
    const bytes = await readFile(output);
    expect(report).toEqual({
      name: "small",
      output,
      files: 6,
      contentBytes: expect.any(Number) as number,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    const packed = await readManifest(output, { dataFolder: join(root, "data") });
    const { directory, reference, source, provenance, ...model } = packed;
    expect([source, reference, provenance]).toEqual(["aimod", output, expect.objectContaining({ version: "1.0.0" })]);
    const own = await readManifest(path);
    const moved = JSON.stringify(model).replaceAll(directory, path).replaceAll(output, path);
    expect(JSON.parse(moved)).toEqual({
      ...JSON.parse(JSON.stringify(own)),
      directory: undefined,
      reference: undefined,
      source: undefined,
      selection: { ...own.selection, file: own.variants[0]?.path }, // metadata.json names it
    });
  });

  it("packs the same files to the same bytes, whatever their times and the order in which they were written", async () => {
    const first = await folder({ "b.txt": "1", "a.txt": "2", "dir/c.txt": "3", "dir-d.txt": "4" });
    const second = join(await mkdtemp(join(root, "f-")), "small");
    for (const name of ["dir/c.txt", "dir-d.txt", "a.txt", "b.txt", "config.json", "onnx/model_fp16.onnx", "onnx/model.onnx"]) {
      await mkdir(join(second, name, ".."), { recursive: true });
      await writeFile(join(second, name), await readFile(join(first, name)));
      await utimes(join(second, name), 1, 1);
      await chmod(join(second, name), 0o700);
    }
    const reports = await Promise.all([first, second].map((path) => pack(path, { output: `${path}.aimod` })));
    expect(reports[0]?.sha256).toBe(reports[1]?.sha256);
    expect(await namesIn(`${first}.aimod`)).toEqual([
      "metadata.json",
      "a.txt",
      "b.txt",
      "config.json",
      "dir-d.txt",
      "dir/c.txt",
      "onnx/model.onnx",
      "onnx/model_fp16.onnx",
    ]);
    const times = new Set<number | undefined>();
    await list({ file: `${first}.aimod`, onReadEntry: ({ mtime }) => times.add(mtime?.getTime()) });
    expect([...times]).toEqual([0]);
    expect((await readFile(`${first}.aimod`)).subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
  });

  it("writes the manifest's fields to metadata.json under Kapsl's names", async () => {
    const own = {
      name: "mine",
      tasks: ["text-generation"],
      preferred: "onnx:cuda:1",
      fallbacks: ["onnx:tensorrt", "wasm:cpu", "onnx:cpu"],
      requirements: { memoryBytes: 2_000_000, deviceMemoryBytes: 1_048_576, cudaVersion: "12.8", precision: "fp16" },
      license: "MIT",
    };
    const path = await folder({ "inferyard.json": JSON.stringify(own) });
    await pack(path, { output: `${path}.aimod` });
    expect(await metadataIn(`${path}.aimod`)).toEqual({
      project_name: "mine",
      framework: "onnx",
      version: "1.0.0",
      created_at: "1970-01-01T00:00:00Z",
      model_file: "onnx/model.onnx",
      metadata: { tasks: ["text-generation"], license: "MIT" },
      hardware_requirements: {
        preferred_provider: "cuda",
        fallback_providers: ["tensorrt", "cpu"],
        min_memory_mb: 2,
        min_vram_mb: 1,
        min_cuda_version: "12.8",
        required_precision: "fp16",
        device_id: 1,
      },
      cron_jobs: [],
    });
    const packed = await readManifest(`${path}.aimod`, { dataFolder: join(root, "data") });
    expect(packed).toMatchObject({ requirements: own.requirements, selection: { fallbacks: own.fallbacks } });
  });

  it("keeps the metadata.json of a package that was unpacked, but for a new name", async () => {
    const kapsl = {
      project_name: "theirs",
      framework: "onnx",
      version: "3",
      created_at: "now",
      model_file: "onnx/model_fp16.onnx",
      hardware_requirements: { graph_optimization_level: "basic" },
    };
    const path = await folder({ "metadata.json": JSON.stringify(kapsl) });
    expect((await pack(path, { output: `${path}.aimod` })).name).toBe("theirs");
    expect(await metadataIn(`${path}.aimod`)).toEqual(kapsl);
    await pack(path, { output: `${path}.aimod`, name: "ours", replace: true });
    expect(await metadataIn(`${path}.aimod`)).toEqual({ ...kapsl, project_name: "ours" });
  });

  it("takes what links lead to, and leaves hidden files out", async () => {
    const path = await folder({ ".git/config": "secret", ".hidden": "secret" });
    await rename(join(path, "config.json"), join(path, "..", "blob"));
    await symlink("../blob", join(path, "config.json"));
    await pack(path, { output: `${path}.aimod` });
    expect(await namesIn(`${path}.aimod`)).toEqual(["metadata.json", "config.json", "onnx/model.onnx", "onnx/model_fp16.onnx"]);
    expect(gunzipSync(await readFile(`${path}.aimod`)).includes("BertModel")).toBe(true);
  });

  it("holds names of any length and of any language", async () => {
    const name = `${"tief/".repeat(30)}Größe-模型-${"x".repeat(100)}.txt`;
    const path = await folder({ [name]: "found" });
    await pack(path, { output: `${path}.aimod` });
    const { directory } = await readManifest(`${path}.aimod`, { dataFolder: join(root, "data") });
    expect(await readFile(join(directory, name), "utf8")).toBe("found");
  });

  it("writes NAME.aimod into the current folder by default", async () => {
    const path = await folder({ "inferyard.json": '{"name":"owner/small"}' });
    const before = process.cwd();
    process.chdir(root);
    try {
      expect((await pack(path)).output).toBe("owner-small.aimod");
    } finally {
      process.chdir(before);
    }
    expect(await readdir(root)).toContain("owner-small.aimod");
  });
});

describe("pack refuses, and leaves nothing", () => {
  it.each<[string, string, (path: string) => Promise<string>, RegExp]>([
    ["a file", "INPUT_INVALID", async (path) => join(path, "onnx/model.onnx"), /is a file, and a package is made of a folder/],
    ["a folder that is not there", "MODEL_NOT_FOUND", async (path) => `${path}-other`, /there is no file or folder/],
    [
      "a metadata.json of another kind",
      "INPUT_INVALID",
      async (path) => writeFile(join(path, "metadata.json"), "{}").then(() => path),
      /metadata\.json has the name a package keeps its manifest under/,
    ],
    [
      "a link to a folder",
      "INPUT_INVALID",
      async (path) => symlink("/tmp", join(path, "linked")).then(() => path),
      /linked is a link to a folder/,
    ],
    [
      "names that are one where capitals do not count",
      "INPUT_INVALID",
      async (path) => link(join(path, "config.json"), join(path, "Config.json")).then(() => path),
      /Config\.json and config\.json are one file/,
    ],
    [
      "a file that would be metadata.json where capitals do not count",
      "INPUT_INVALID",
      async (path) => writeFile(join(path, "Metadata.JSON"), "{}").then(() => path),
      /metadata\.json and Metadata\.JSON are one file/,
    ],
    [
      "a link to nothing",
      "MODEL_INVALID",
      async (path) => symlink("nowhere", join(path, "lost")).then(() => path),
      /lost cannot be read/,
    ],
    [
      "a broken model",
      "MODEL_INVALID",
      async (path) => writeFile(join(path, "onnx/model.onnx"), "x").then(() => path),
      /model\.onnx/,
    ],
  ])("%s", async (_name, code, prepare, message) => {
    const path = await folder();
    const reference = await prepare(path);
    const output = join(path, "..", "out", "small.aimod");
    await mkdir(join(output, ".."));
    await expect(pack(reference, { output })).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(await readdir(join(output, ".."))).toEqual([]);
  });

  it("to overwrite a package without `replace`", async () => {
    const path = await folder();
    await writeFile(`${path}.aimod`, "mine");
    await expect(pack(path, { output: `${path}.aimod` })).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
    expect(await readFile(`${path}.aimod`, "utf8")).toBe("mine");
    await pack(path, { output: `${path}.aimod`, replace: true });
    expect(await readdir(join(path, ".."))).toEqual(["small", "small.aimod"]);
  });

  it("to write into the folder it packs", async () => {
    const path = await folder();
    await expect(pack(path, { output: join(path, "small.aimod") })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("a disk that refuses", async () => {
    const path = await folder();
    const output = join(path, "config.json", "small.aimod");
    await expect(pack(path, { output: join(path, "..", "none", "x.aimod") })).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
    await expect(pack(path, { output })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("when the caller gives up, at any moment", async () => {
    const path = await folder({ big: Buffer.alloc(3e6, Math.random().toString()) });
    const output = `${path}.aimod`;
    const outcomes: string[] = [];
    for (const milliseconds of [0, 1, 2, 4, 8, 16]) {
      const signal = milliseconds === 0 ? AbortSignal.abort() : AbortSignal.timeout(milliseconds);
      const work = pack(path, { output, replace: true, signal });
      outcomes.push(
        await work.then(
          () => "written",
          (error: unknown) => (error as { code: string }).code,
        ),
      );
      expect((await readdir(join(path, ".."))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    }
    expect(outcomes[0]).toBe("ABORTED");
    expect(outcomes.filter((outcome) => !["written", "ABORTED"].includes(outcome))).toEqual([]);
  });
});
