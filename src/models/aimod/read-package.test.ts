import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { Header } from "tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emptyGguf } from "../../../test/fixtures/models/gguf-bytes.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type Manifest, readManifest } from "../index.ts";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.ts";
import { openPackage } from "./read-package.ts";

let root = "";
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "inferyard-aimod-"));
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

interface Entry {
  readonly path: string;
  readonly content?: Buffer | string;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO" | "SparseFile";
  readonly linkpath?: string;
  /** What the header says, where it is not the truth. */
  readonly size?: number;
}

function entry({ path, content = "", type = "File", linkpath, size }: Entry): Buffer {
  const bytes = Buffer.from(content);
  const header = new Header({
    path,
    type,
    size: size ?? bytes.length,
    mode: 0o644,
    ...(linkpath === undefined ? {} : { linkpath }),
  });
  const block = Buffer.alloc(512);
  header.encode(block, 0);
  return Buffer.concat([block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

const tarEnd = Buffer.alloc(1024);
const archive = (...entries: readonly Entry[]): Buffer => gzipSync(Buffer.concat([...entries.map(entry), tarEnd]));

const kapsl = {
  project_name: "small",
  framework: "onnx",
  version: "1.0.0",
  created_at: "1760000000",
  model_file: "model.onnx",
  metadata: null,
  hardware_requirements: {},
  cron_jobs: [],
};
const metadata = (over: object = {}): Entry => ({ path: "metadata.json", content: JSON.stringify({ ...kapsl, ...over }) });
const model: Entry = { path: "model.onnx", content: graph };

/** A package in a folder of its own, and a data folder beside it. */
async function place(bytes: Buffer): Promise<{ path: string; dataFolder: string }> {
  const folder = join(root, String((count += 1)));
  await mkdir(folder);
  await writeFile(join(folder, "small.aimod"), bytes);
  return { path: join(folder, "small.aimod"), dataFolder: join(folder, "data") };
}

async function read(bytes: Buffer): Promise<Manifest> {
  const { path, dataFolder } = await place(bytes);
  return readManifest(path, { dataFolder });
}

function codeOf(error: unknown): string {
  if (error instanceof InferyardError) return error.code;
  throw error;
}

async function left(dataFolder: string): Promise<string[]> {
  return existsSync(join(dataFolder, "packages")) ? readdir(join(dataFolder, "packages")) : [];
}

/** The error, after a look at what it left on the disk. */
async function refusal(bytes: Buffer, limits?: Partial<ArchiveLimits>): Promise<InferyardError> {
  const { path, dataFolder } = await place(bytes);
  const opened = openPackage({ path, displayName: "small.aimod" }, { dataFolder }, { ...archiveLimits, ...limits });
  const error: unknown = await opened.then(
    () => expect.fail("it was unpacked"),
    (thrown: unknown) => thrown,
  );
  expect(await left(dataFolder)).toEqual([]);
  expect(await readdir(join(path, ".."))).toEqual(existsSync(dataFolder) ? ["data", "small.aimod"] : ["small.aimod"]);
  if (!(error instanceof InferyardError)) throw error;
  return error;
}

describe("a package", () => {
  it("is unpacked under its digest and read as a model", async () => {
    const { path, dataFolder } = await place(
      archive(metadata({ metadata: { author: "me" } }), model, { path: "LICENSE", content: "free" }),
    );
    const manifest = await readManifest(path, { dataFolder });
    expect(manifest).toMatchObject({ source: "aimod", name: "small", reference: path, tasks: [] });
    expect(manifest.directory).toMatch(/data\/packages\/[0-9a-f]{64}$/);
    expect(manifest.variants).toMatchObject([{ name: "fp32", path: join(manifest.directory, "model.onnx") }]);
    expect(await readFile(join(manifest.directory, "LICENSE"), "utf8")).toBe("free");
    expect(manifest.provenance).toEqual({ version: "1.0.0", created_at: "1760000000", metadata: { author: "me" } });
    expect(manifest.selection).toEqual({ backends: [], fallbacks: [], file: join(manifest.directory, "model.onnx") });
    expect([manifest.requirements, manifest.settings]).toEqual([{}, undefined]);
  });

  it("is not unpacked again", async () => {
    const { path, dataFolder } = await place(archive(metadata(), model));
    const { directory } = await readManifest(path, { dataFolder });
    await writeFile(join(directory, "seen"), "");
    await readManifest(path, { dataFolder });
    expect(await readdir(directory)).toContain("seen");
  });

  it("has its hardware requirements in our terms", async () => {
    const manifest = await read(
      archive(
        model,
        metadata({
          hardware_requirements: {
            preferred_provider: "CUDA",
            fallback_providers: ["tensorrt", "cuda", "metal", "cpu"],
            min_memory_mb: 200,
            min_vram_mb: 100,
            gpu_memory_reservation_mb: 150,
            min_cuda_version: "12.8",
            required_precision: "fp16",
            graph_optimization_level: "2",
            device_id: 1,
            strategy: "round-robin",
            isolation_mode: "best_effort",
            optimized_for: ["cuda_12.8"],
            gpu_memory_limit_mb: null,
            gpu_compute_share_milli: 1000,
          },
        }),
      ),
    );
    expect(manifest.selection).toEqual({
      backends: [],
      file: manifest.variants[0]?.path,
      preferred: "onnx:cuda:1",
      fallbacks: ["onnx:tensorrt:1", "onnx:coreml:1", "onnx:cpu"],
    });
    expect(manifest.requirements).toEqual({
      memoryBytes: 209_715_200,
      deviceMemoryBytes: 157_286_400,
      cudaVersion: "12.8",
      precision: "fp16",
    });
    expect(manifest.settings).toEqual({ graphOptimization: "extended" });
    expect(manifest.placement).toBe("round-robin");
    expect(manifest.provenance).toMatchObject({
      strategy: "round-robin",
      isolation_mode: "best_effort",
      optimized_for: ["cuda_12.8"],
    });
  });

  it.each([
    ["no provider", {}, { fallbacks: [] }],
    ["a fallback alone", { fallback_providers: ["cpu"] }, { fallbacks: ["onnx:cpu"] }],
    ["the first device", { preferred_provider: "cuda", device_id: 0 }, { preferred: "onnx:cuda:0", fallbacks: [] }],
    ["any device", { preferred_provider: "cuda", device_id: null }, { preferred: "onnx:cuda", fallbacks: [] }],
    ["the CPU, which has no number", { preferred_provider: "cpu", device_id: 0 }, { preferred: "onnx:cpu", fallbacks: [] }],
    [
      "a list of devices",
      { preferred_provider: "cuda", fallback_providers: ["cpu"], gpu_device_ids: [3, 1], device_id: 1 },
      { preferred: "onnx:cuda:1", fallbacks: ["onnx:cuda:3", "onnx:cpu"] },
    ],
  ])("with %s", async (_name, hardware_requirements, selection) => {
    const manifest = await read(archive(metadata({ hardware_requirements }), model));
    expect(manifest.selection).toEqual({ backends: [], file: manifest.variants[0]?.path, ...selection });
  });

  it.each([
    ["disable", "disabled"],
    ["0", "disabled"],
    ["BASIC", "basic"],
    ["1", "basic"],
    ["extended", "extended"],
    ["all", "all"],
    ["3", "all"],
    ["99", "all"],
  ])("with the optimization level %s asks for %s", async (level, graphOptimization) => {
    const manifest = await read(archive(metadata({ hardware_requirements: { graph_optimization_level: level } }), model));
    expect(manifest.settings).toEqual({ graphOptimization });
  });

  it("of another format prefers the engine that reads it", async () => {
    const hardware_requirements = { preferred_provider: "metal" };
    const gguf = { framework: "gguf", model_file: "model.gguf", hardware_requirements };
    const manifest = await read(archive(metadata(gguf), { path: "model.gguf", content: emptyGguf() }));
    expect(manifest).toMatchObject({ tasks: ["text-generation"], selection: { preferred: "llamacpp:metal" } });
  });

  it.each([
    [{ task: "embed", format: "onnx", model_type: "embedding" }, ["feature-extraction"]],
    [{ task: "rerank" }, ["text-ranking"]],
    [{ task: "forward" }, []],
    [{ task: "generate" }, ["text-generation"]],
    [{ framework: "LLM" }, ["text-generation"]],
  ])("%j serves %j", async (over, tasks) => {
    expect((await read(archive(metadata(over), model))).tasks).toEqual(tasks);
  });

  it("has its model first and its other weights after it", async () => {
    const files = ["a/deep.onnx", "model.onnx", "onnx/model_fp16.onnx"].map((path) => ({ path, content: graph }));
    const deep = await read(archive(metadata({ model_file: "a/deep.onnx" }), ...files));
    expect(deep.variants.map(({ name }) => name)).toEqual(["deep", "fp32", "fp16"]);
    const second = await read(archive(metadata({ model_file: "./onnx/model_fp16.onnx" }), ...files));
    expect(second.variants.map(({ name }) => name)).toEqual(["fp16", "fp32"]);
  });

  it("yields to an inferyard.json in it for the fields that it states", async () => {
    const own = { path: "inferyard.json", content: '{"name":"ours","requirements":{"memoryBytes":7},"provenance":"here"}' };
    const hardware_requirements = { preferred_provider: "cpu", min_memory_mb: 1 };
    const manifest = await read(archive(metadata({ hardware_requirements }), model, own));
    expect(manifest).toMatchObject({ name: "ours", requirements: { memoryBytes: 7 }, selection: { preferred: "onnx:cpu" } });
    expect(manifest.provenance).toBe("here");
  });

  it("reads the same as the folder it was unpacked to by hand", async () => {
    const { path, dataFolder } = await place(archive(metadata({ hardware_requirements: { min_memory_mb: 1 } }), model));
    const packed = await readManifest(path, { dataFolder });
    const unpacked = await readManifest(packed.directory);
    expect({ ...unpacked, reference: path }).toEqual(packed);
  });

  it("with a metadata.json of another kind in a folder is no package", async () => {
    const folder = await mkdtemp(join(root, "other-"));
    await writeFile(join(folder, "metadata.json"), '{"author":"me"}');
    await writeFile(join(folder, "model.onnx"), graph);
    expect(await readManifest(folder)).toMatchObject({ source: "huggingface" });
  });

  it("holds folders and long names as other programs write them", async () => {
    const folder = await mkdtemp(join(root, "made-"));
    const long = `${"sub/".repeat(30)}${"x".repeat(90)}.txt`;
    await mkdir(join(folder, "sub/".repeat(30)), { recursive: true });
    for (const [name, content] of [
      ["metadata.json", metadata().content!],
      ["model.onnx", graph],
      [long, "deep"],
    ] as const)
      await writeFile(join(folder, name), content);
    for (const format of ["gnu", "posix", "ustar"]) {
      const bytes = execFileSync("tar", [`--format=${format}`, "-C", folder, "-czf", "-", "."]);
      const { directory } = await read(bytes);
      expect(await readFile(join(directory, long), "utf8")).toBe("deep");
    }
  });
});

describe("a package is refused, and nothing is left", () => {
  const truncated = archive(
    metadata(),
    { path: "big", content: Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 251)) },
    model,
  );
  const raw = Buffer.concat([entry(metadata()), entry(model)]);
  const broken = Buffer.from(raw);
  broken.writeUInt8(broken.readUInt8(1100) ^ 1, 1100); // in the header of the model
  it.each<[string, Buffer, RegExp]>([
    ["that is no gzip", Buffer.from("hello"), /is not compressed by gzip/],
    ["that is empty", Buffer.alloc(0), /is not compressed by gzip/],
    ["that is a plain tar", Buffer.concat([raw, tarEnd]), /is not compressed by gzip/],
    ["that is compressed twice", gzipSync(archive(metadata(), model)), /is compressed twice/],
    ["that is compressed twice and long", gzipSync(truncated), /is compressed twice/],
    ["that is cut off", truncated.subarray(0, truncated.length - 300), /is cut off/],
    ["cut off near its end", truncated.subarray(0, truncated.length - 4), /is cut off/],
    [
      "with a flipped bit",
      Buffer.concat([truncated.subarray(0, 200), Buffer.from([truncated[200]! ^ 64]), truncated.subarray(201)]),
      /is damaged/,
    ],
    ["with a broken header", gzipSync(Buffer.concat([broken, tarEnd])), /is damaged.*checksum/],
    ["whose archive is cut off", gzipSync(raw.subarray(0, raw.length - 512)), /is damaged.*Truncated|ends before/],
    ["whose archive has no end", gzipSync(raw), /ends before the end of its archive/],
    ["that holds nothing", gzipSync(Buffer.alloc(0)), /holds no archive/],
    ["that holds no archive", gzipSync(Buffer.alloc(4096, "x")), /is damaged/],
    ["with an absolute path", archive(metadata(), model, { path: "/tmp/evil" }), /"\/tmp\/evil" has an absolute path/],
    ["with ..", archive(metadata(), model, { path: "a/../../evil" }), /leads out of the folder/],
    ["with a drive letter", archive(metadata(), model, { path: "C:/evil" }), /has a drive letter/],
    ["with a backslash", archive(metadata(), model, { path: "..\\evil" }), /has a backslash/],
    [
      "with a link out of the folder",
      archive(metadata(), model, { path: "l", type: "SymbolicLink", linkpath: "../../etc" }),
      /"l" is neither a file nor a folder \(SymbolicLink\)/,
    ],
    [
      "with a link inside it",
      archive(metadata(), model, { path: "l", type: "SymbolicLink", linkpath: "model.onnx" }),
      /SymbolicLink/,
    ],
    ["with a hard link", archive(metadata(), model, { path: "l", type: "Link", linkpath: "/etc/passwd" }), /\(Link\)/],
    ["with a device", archive(metadata(), model, { path: "d", type: "CharacterDevice" }), /CharacterDevice/],
    ["with a pipe", archive(metadata(), model, { path: "p", type: "FIFO" }), /FIFO/],
    ["with a sparse file", archive(metadata(), { ...model, type: "SparseFile" }), /"model\.onnx" as a sparse file/],
    ["with a file twice", archive(metadata(), model, model), /has the name of another entry/],
    ["with a file twice in capitals", archive(metadata(), model, { path: "MODEL.onnx" }), /differs in capitals/],
    ["with a file in a file", archive(metadata(), model, { path: "model.onnx/x" }), /has the name of another entry/],
    ["with a file for a folder", archive(metadata(), { path: "a/b" }, { path: "a" }, model), /has the name of another entry/],
    ["without metadata.json", archive(model), /holds no metadata\.json/],
    ["with metadata.json deeper down", archive({ ...metadata(), path: "x/metadata.json" }, model), /holds no metadata\.json/],
    ["whose metadata is no JSON", archive({ path: "metadata.json", content: "{" }, model), /is not JSON/],
    ["whose metadata is a folder", archive({ path: "metadata.json/", type: "Directory" }, model), /metadata\.json is a folder/],
    ["without its model", archive(metadata()), /small\.aimod\/model\.onnx is missing/],
    ["with an empty model", archive(metadata(), { path: "model.onnx" }), /model\.onnx is empty/],
    ["whose model lies outside", archive(metadata({ model_file: "../model.onnx" }), model), /lies outside the package/],
    ["whose model is of no known kind", archive(metadata({ model_file: "model.pt" }), model), /ends in none of/],
    [
      "whose model is of another format",
      archive(metadata({ framework: "gguf" }), model),
      /"model\.onnx" is onnx, and the framework "gguf" says gguf/,
    ],
    ["of an unknown framework", archive(metadata({ framework: "torch" }), model), /framework: must be one of onnx, llm/],
    [
      "with an unknown key",
      archive(metadata({ hardware_requirements: { device_idx: 1 } }), model),
      /unknown key "device_idx" \(did you mean "device_id"\?\)/,
    ],
    [
      "with an unknown provider",
      archive(metadata({ hardware_requirements: { preferred_provider: "gpu" } }), model),
      /must be one of cpu, cuda/,
    ],
    [
      "with a device of nothing",
      archive(metadata({ hardware_requirements: { device_id: 1 } }), model),
      /no provider but cpu is named/,
    ],
    [
      "with a device not listed",
      archive(metadata({ hardware_requirements: { preferred_provider: "cuda", device_id: 1, gpu_device_ids: [0] } }), model),
      /1 is not in gpu_device_ids \(0\)/,
    ],
  ])("%s", async (_name, bytes, message) => {
    const error = await refusal(bytes);
    expect(error.code).toBe("MODEL_INVALID");
    expect(error.message).toMatch(message);
    expect(error.remedy).toBeTruthy();
  });

  it("with every problem in one error", async () => {
    const hardware_requirements = { preferred_provider: "gpu", min_memory_mb: -1, strategy: "some" };
    const error = await refusal(archive(metadata({ framework: "torch", hardware_requirements }), model));
    expect(error.data["problems"]).toHaveLength(4);
  });

  it.each([
    ["a device for itself", { hardware_requirements: { isolation_mode: "hard" } }, /keeps other models off the device/],
    ["a limit on memory", { hardware_requirements: { gpu_memory_limit_mb: 1 } }, /a limit on the device's memory/],
    ["half a device", { hardware_requirements: { gpu_compute_share_milli: 500 } }, /a share of the device's time/],
    ["requests by the clock", { cron_jobs: [{ id: "x" }] }, /requests by the clock/],
  ])("when it asks for %s", async (_name, over, message) => {
    const error = await refusal(archive(metadata(over), model));
    expect(error.code).toBe("MODEL_UNSUPPORTED");
    expect(error.message).toContain("metadata.json asks for what this version does not do: ");
    expect(error.message).toMatch(message);
  });

  it.each<[string, readonly Entry[], Partial<ArchiveLimits>, RegExp]>([
    ["too many entries", [{ path: "a" }, { path: "b/", type: "Directory" }], { maxEntries: 3 }, /holds more than 3 files/],
    ["a file too large", [{ path: "a", content: "x".repeat(99) }], { maxFileBytes: 98 }, /"a" has 99 bytes, and 98 are allowed/],
    ["too much in all", [{ path: "a", content: Buffer.alloc(1e6) }], { maxTotalBytes: 1e6 }, /larger than 1000000 bytes/],
    ["a bomb", [{ path: "a", content: Buffer.alloc(1e6) }], { minBytesForRatio: 5e5 }, /grows more than 100 times/],
    ["too much metadata", [], { maxMetadataBytes: 9 }, /"metadata\.json" has \d+ bytes, and 9 are allowed/],
  ])("%s", async (_name, entries, limits, message) => {
    const error = await refusal(archive(metadata(), model, ...entries), limits);
    expect(error.code).toBe("MODEL_INVALID");
    expect(error.message).toMatch(message);
  });

  it("a bomb, by the limits that hold for everyone, before it has grown", async () => {
    const size = 64e6;
    const bytes = gzipSync(Buffer.concat([entry(metadata()), entry(model), entry({ path: "zeros", size }), Buffer.alloc(size)]));
    expect(bytes.length).toBeLessThan(1e5);
    expect((await refusal(bytes)).message).toMatch(/grows more than 100 times/);
  });

  it("whatever is done to its bytes", async () => {
    const whole = gunzipSync(archive(metadata(), model, { path: "a/b.txt", content: "text" }));
    const edit = fc.record({ at: fc.nat(whole.length - 1), byte: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.nat(whole.length), async (edits, end) => {
        const bytes = Buffer.from(whole.subarray(0, end % 3 === 0 ? end : whole.length));
        for (const { at, byte } of edits) if (at < bytes.length) bytes[at] = byte;
        const { path, dataFolder } = await place(gzipSync(bytes));
        const result = await readManifest(path, { dataFolder }).then(({ source }) => source, codeOf);
        expect(["aimod", "MODEL_INVALID", "MODEL_UNSUPPORTED"]).toContain(result);
        for (const name of await left(dataFolder)) expect(name).toMatch(/^[0-9a-f]{64}$/);
        expect((await readdir(join(path, ".."))).toSorted()).toEqual(["data", "small.aimod"]);
      }),
      { numRuns: amount(80, 20) },
    );
  });

  it("whatever names its entries have: a file inside, or none at all", async () => {
    const part = fc.constantFrom("..", ".", "", "a", "A", "b", "con", "C:", "é", "e\u0301", "x\\y", " ");
    const paths = fc.array(
      fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(paths, async (names) => {
        const { path, dataFolder } = await place(
          archive(metadata(), model, ...names.filter(Boolean).map((name) => ({ path: name, content: name }))),
        );
        const result = await openPackage({ path, displayName: "p" }, { dataFolder }).then(() => "unpacked", codeOf);
        const folders = (await left(dataFolder)).length;
        expect(["unpacked 1", "MODEL_INVALID 0"]).toContain(`${result} ${folders}`);
        expect((await readdir(join(path, ".."))).toSorted()).toEqual(["data", "small.aimod"]);
        expect(await readdir(dataFolder)).toEqual(["packages"]);
      }),
      { numRuns: amount(60, 15) },
    );
  });
});

describe("unpacking", () => {
  const filled = (): Buffer =>
    archive(metadata(), model, ...Array.from({ length: 40 }, (_, i) => ({ path: `f/${i}`, content: "x".repeat(2000) })));

  it("of one package many times at once gives one folder, which is whole from the moment it is seen", async () => {
    const { path, dataFolder } = await place(filled());
    const work = { pending: true };
    const opened = Promise.all(Array.from({ length: 6 }, () => openPackage({ path, displayName: path }, { dataFolder })));
    void opened.finally(() => {
      work.pending = false;
    });
    let seen = 0;
    while (work.pending) {
      const whole = (await left(dataFolder)).filter((name) => /^[0-9a-f]{64}$/.test(name));
      for (const name of whole) {
        seen += 1;
        expect(await readdir(join(dataFolder, "packages", name, "f"))).toHaveLength(40);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const folders = new Set(await opened);
    expect(folders.size).toBe(1);
    expect(seen).toBeGreaterThan(0);
    expect(await left(dataFolder)).toHaveLength(1);
  });

  it("removes what a killed process left, and nothing of a running one or of another machine", async () => {
    const { path, dataFolder } = await place(filled());
    const own = `.unpacking-${hostname().replaceAll(/[^a-zA-Z0-9]/g, "")}-`;
    const end = "-00000000-0000-0000-0000-000000000000";
    // The largest process id Linux gives is 4194304.
    const kept = [`${own}${process.pid}${end}`, `.unpacking-elsewhere-4194305${end}`];
    for (const name of [`${own}4194305${end}`, ...kept]) await mkdir(join(dataFolder, "packages", name), { recursive: true });
    const folder = await openPackage({ path, displayName: path }, { dataFolder });
    expect((await left(dataFolder)).toSorted()).toEqual([...kept, folder.slice(-64)].toSorted());
  });

  it("where nothing can be written is OUTPUT_FAILED", async () => {
    const { path } = await place(filled());
    const opened = openPackage({ path, displayName: path }, { dataFolder: path });
    await expect(opened).rejects.toMatchObject({
      code: "OUTPUT_FAILED",
      remedy: expect.stringContaining("INFERYARD_HOME") as string,
    });
  });

  it("on a full disk is DISK_FULL, and gives the room back", async ({ skip }) => {
    const { path, dataFolder } = await place(archive(metadata(), model, { path: "big", content: Buffer.alloc(3e6) }));
    await mkdir(dataFolder);
    try {
      execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "inferyard-test", dataFolder], { stdio: "ignore" });
    } catch {
      skip("this user may not mount a small disk");
    }
    try {
      await expect(readManifest(path, { dataFolder })).rejects.toMatchObject({
        code: "DISK_FULL",
        message: expect.stringContaining("ENOSPC") as string,
      });
      expect(await left(dataFolder)).toEqual([]);
      expect((await stat(join(dataFolder, "packages"))).isDirectory()).toBe(true);
    } finally {
      execFileSync("/usr/bin/umount", [dataFolder]);
    }
  });
});
