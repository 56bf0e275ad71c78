/** Pulling from a stand-in of the hub that fails in every way a network can. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emptyGguf } from "../../../test/fixtures/models/gguf-bytes.ts";
import { type HubOptions, type HubStandIn, commit, startHub } from "../../../test/fixtures/models/hub-stand-in.ts";
import { onnx, smallModel } from "../../../test/fixtures/models/small-model.ts";
import { serializeSafetensors } from "../../formats/safetensors/read-safetensors.ts";
import { readManifest } from "../index.ts";
import { type ModelStore, type PullProgress, storeWith } from "../model-store.ts";

const timing = { attempts: 4, initialDelayMs: 1, maxDelayMs: 5, maxRetryAfterMs: 1500, stallMs: 5000 };
/** For servers that fall silent. */
const impatient = { ...timing, stallMs: 250 };
const reference = "hf:owner/name";
const published = smallModel();

let hub: HubStandIn;
let root = "";
let store: ModelStore;
let model: Record<string, Buffer>;
let environment: Record<string, string>;

beforeEach(async () => {
  model = { ...published };
  root = await mkdtemp(join(tmpdir(), "inferyard-hub-"));
  await serve();
});
afterEach(async () => {
  await hub.close();
  await rm(root, { recursive: true });
});

async function serve(options: Partial<HubOptions> = {}): Promise<void> {
  await (hub as HubStandIn | undefined)?.close();
  hub = await startHub({ models: { "owner/name": model }, ...options });
  environment = { HF_ENDPOINT: hub.url, HF_HOME: join(root, "hf") };
  store = openStore();
}

function openStore(more: Record<string, string> = {}, times: typeof timing = timing): ModelStore {
  return storeWith({ folder: join(root, "store"), environment: { ...environment, ...more } }, times);
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const inStore = (folder: string): string[] => {
  const path = join(root, "store", folder);
  return existsSync(path) ? readdirSync(path) : [];
};
/** Paths of the model's folder. */
function files(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => statSync(join(folder, path)).isFile()).toSorted();
}
const bytesAt = (folder: string, path: string): Buffer => readFileSync(join(folder, path));
const toStorage = (): number => hub.seen.filter(({ host }) => host === "storage").length;

describe("what is fetched", () => {
  it("is what describes the model and the weights a load would take first", async () => {
    const { folder, variants, commit: pulled, bytes, fetchedBytes } = await store.pull(reference);
    expect(files(folder)).toEqual(["1_Pooling/config.json", "README.md", "config.json", "onnx/model.onnx"]);
    for (const path of files(folder)) expect(bytesAt(folder, path).equals(model[path]!)).toBe(true);
    expect({ variants, pulled, fetchedBytes }).toEqual({ variants: ["fp32"], pulled: commit, fetchedBytes: bytes });
    expect([inStore("downloads"), inStore("locks")]).toEqual([[], []]);
    expect(statSync(join(folder, "onnx/model.onnx")).mode & 0o222).toBe(0);
  });

  it("is nothing the second time, and of a second variant only its weights", async () => {
    const first = await store.pull(reference);
    expect((await store.pull(reference)).fetchedBytes).toBe(0);
    const second = await store.pull(`${reference}:quantized`);
    expect(second.fetchedBytes).toBe(model["onnx/model_quantized.onnx"]!.length);
    expect(files(second.folder)).toEqual([...files(first.folder), "onnx/model_quantized.onnx"].toSorted());
    expect(second.folder).not.toBe(first.folder);
    expect(files(first.folder)).toHaveLength(4);
  });

  it("is looked for anew by the model's name in the store; what is no reference is refused with what to write", async () => {
    await store.pull(reference);
    expect((await store.pull("name:int8")).variants).toEqual(["fp32", "int8"]);
    await expect(store.pull("owner/other")).rejects.toMatchObject({ code: "INPUT_INVALID", remedy: "write hf:owner/other" });
    await expect(store.pull("./folder")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("of a repository that moved on is what changed, for every variant that was there", async () => {
    await store.pull(reference);
    await store.pull(`${reference}:int8`);
    const before = model;
    model = { ...before, "onnx/model_quantized.onnx": onnx(10) };
    await serve({ revisions: { main: "d".repeat(40) } });
    const { folder, fetchedBytes, variants } = await store.pull(reference);
    expect(fetchedBytes).toBe(model["onnx/model_quantized.onnx"]!.length);
    expect(variants).toEqual(["fp32", "int8"]);
    expect(bytesAt(folder, "onnx/model_quantized.onnx").equals(model["onnx/model_quantized.onnx"]!)).toBe(true);
  });

  it("includes the files that hold a graph's weights, whatever they are called", async () => {
    model = {
      "config.json": model["config.json"]!,
      "onnx/model.onnx": onnx(4, "model.onnx_data"),
      "onnx/model.onnx_data": Buffer.alloc(16),
    };
    model["onnx/model_fp16.onnx"] = onnx(4, "odd name.weights");
    model["onnx/odd name.weights"] = Buffer.alloc(16, 1);
    await serve();
    expect(files((await store.pull(reference)).folder)).toEqual(["config.json", "onnx/model.onnx", "onnx/model.onnx_data"]);
    expect(files((await store.pull(`${reference}:fp16`)).folder)).toContain("onnx/odd name.weights");
  });

  it("of a static model is its safetensors, since a load takes those", async () => {
    model["modules.json"] = Buffer.from(JSON.stringify([{ type: "sentence_transformers.models.StaticEmbedding", path: "" }]));
    model["model.safetensors"] = Buffer.from("\u0002\0\0\0\0\0\0\0{}");
    await serve();
    await store.pull(reference).catch(() => undefined); // an empty model, and so no manifest: what was asked for is what counts
    const asked = hub.seen.filter(({ path }) => path.includes("/resolve/")).map(({ path }) => path.split("/").slice(5).join("/"));
    expect(asked).toContain("model.safetensors");
    expect(asked.filter((path) => path.endsWith(".onnx"))).toEqual([]);
  });

  it("holds the weights of the modules after pooling; where they are pickled it is refused before anything large is fetched", async () => {
    const types = ["Transformer", "Pooling", "Dense"];
    const modules = types.map((type, idx) => ({
      path: idx === 0 ? "" : `${idx}_${type}`,
      type: `sentence_transformers.models.${type}`,
    }));
    model["modules.json"] = Buffer.from(JSON.stringify(modules));
    model["1_Pooling/config.json"] = Buffer.from("{}");
    model["2_Dense/config.json"] = Buffer.from(JSON.stringify({ in_features: 1, out_features: 1, bias: false }));
    model["2_Dense/pytorch_model.bin"] = Buffer.from("pickle");
    await serve();
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("hf:owner/name/2_Dense are in pytorch_model.bin") as string,
    });
    expect(toStorage()).toBe(0);
    const linear = { dataType: "float32" as const, shape: [1, 1], data: Float32Array.of(2) };
    const { header, pieces } = serializeSafetensors({ "linear.weight": linear }, {});
    model["2_Dense/model.safetensors"] = Buffer.concat([header, ...pieces]);
    await serve();
    const { folder } = await store.pull(reference);
    expect(files(folder)).toContain("2_Dense/model.safetensors");
    const second = await store.pull(`${reference}:int8`);
    expect(files(second.folder)).toContain("2_Dense/model.safetensors");
  });

  it("is refused where the repository has no weights we read, no such variant, or a module we do not compute; no weights are fetched", async () => {
    await expect(store.pull(`${reference}:q4`)).rejects.toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: 'hf:owner/name has no variant "q4"',
      remedy: "choose one of fp32 (1 MB), int8 (1 MB)",
    });
    model["modules.json"] = Buffer.from(
      JSON.stringify([
        { type: "sentence_transformers.models.Transformer", path: "" },
        { type: "sentence_transformers.models.Dense", path: "2_Dense" },
      ]),
    );
    await serve();
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("Dense") as string,
    });
    model = { "config.json": model["config.json"]!, "pytorch_model.bin": model["pytorch_model.bin"]! };
    await serve();
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("pytorch_model.bin") as string,
    });
    expect([toStorage(), inStore("models")]).toEqual([0, []]);
  });

  it("is all of it where a manifest in the repository speaks for its files; variants are the manifest's", async () => {
    const stated = { variants: { tiny: { file: "deep/down/w.onnx" }, big: { file: "onnx/model.onnx" } } };
    model["inferyard.json"] = Buffer.from(JSON.stringify(stated));
    model["deep/down/w.onnx"] = onnx(3);
    await serve();
    const { folder, variants } = await store.pull(`${reference}:tiny`);
    expect(variants).toEqual(["tiny", "big"]);
    expect(files(folder)).toContain("deep/down/w.onnx");
    expect(files(folder).filter((path) => /bin$|h5$|openvino/.test(path))).toEqual([]);
    expect((await readManifest(`${reference}:tiny`, { dataFolder: join(root, "store") })).variants).toHaveLength(1);
    await expect(store.pull(`${reference}:huge`)).rejects.toMatchObject({ remedy: "choose one of tiny, big" });
  });

  it("of weights split over several files is all of them", async () => {
    const shardOf = (tensor: string): Buffer => {
      const { header, pieces } = serializeSafetensors(
        { [tensor]: { dataType: "float32", shape: [1], data: Float32Array.of(1) } },
        {},
      );
      return Buffer.concat([header, ...pieces]);
    };
    const shards = { "model-00001-of-00002.safetensors": shardOf("a"), "model-00002-of-00002.safetensors": shardOf("b") };
    const index = Buffer.from(
      JSON.stringify({ weight_map: { a: "model-00001-of-00002.safetensors", b: "model-00002-of-00002.safetensors" } }),
    );
    model = { "config.json": model["config.json"]!, ...shards, "model.safetensors.index.json": index };
    await serve();
    for (const name of [reference, `${reference}:safetensors`]) {
      const { folder, variants } = await store.pull(name);
      expect(variants).toEqual(["fp32"]);
      expect(files(folder)).toEqual(Object.keys(model).toSorted());
    }
  });

  it("must be chosen where no file has the usual name", async () => {
    model = { "tiny-Q2_K.gguf": emptyGguf("a"), "tiny-Q4_K_M.gguf": emptyGguf("b") };
    await serve();
    await expect(store.pull(reference)).rejects.toMatchObject({
      remedy: expect.stringContaining("tiny-Q4_K_M (1 MB)") as string,
    });
    expect(files((await store.pull(`${reference}:tiny-Q4_K_M`)).folder)).toEqual(["tiny-Q4_K_M.gguf"]);
  });
});

describe("a network that fails", () => {
  const large =
    (times: number): ((seen: { host: string }, count: number) => boolean) =>
    (seen, count) =>
      seen.host === "storage" && count <= times;

  it.each([
    ["is cut in the middle", { cutAfter: 300_000 }],
    ["stalls in the middle", { stallAfter: 300_000 }],
  ])("%s: the rest is fetched, and nothing twice", async (_name, fault) => {
    await serve({ fault: (seen, times) => (large(1)(seen, times) ? fault : undefined) });
    const { folder, bytes } = await openStore({}, impatient).pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
    expect(hub.served()).toBeLessThanOrEqual(bytes + 300_000);
    const start = Number(/\d+/.exec(hub.seen.findLast(({ host }) => host === "storage")?.range ?? "")?.[0]);
    expect(start).toBeGreaterThan(0);
  });

  it.each([
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["429", { status: 429, headers: { "retry-after": "0" } }],
    ["a page that is cut off", { cutAfter: 20 }],
    ["silence", { stallAfter: 0 }],
  ])("%s, once at every address: is asked again", async (_name, fault) => {
    await serve({ fault: (_seen, times) => (times === 1 ? fault : undefined) });
    const { folder } = await openStore({}, impatient).pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
  });

  it("a signed address that has run out is asked for anew", async () => {
    await serve({ fault: (seen, times) => (large(2)(seen, times) ? { status: 403 } : undefined) });
    await store.pull(reference);
    expect(toStorage()).toBe(3);
  });

  it("that stays down is DOWNLOAD_FAILED with what the server said", async () => {
    await serve({ fault: (seen) => (seen.host === "storage" ? { status: 502 } : undefined) });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringMatching(
        /^onnx\/model\.onnx of hf:owner\/name could not be fetched: 127\.0\.0\.1:\d+ answered 502$/,
      ) as string,
      data: { status: 502, attempts: 4 },
    });
    expect(toStorage()).toBe(4);
    await hub.close();
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("ECONNREFUSED") as string,
    });
  });

  it("a pause longer than we wait is passed on", async () => {
    await serve({ fault: () => ({ status: 429, headers: { "retry-after": "3600" } }) });
    await expect(store.pull(reference)).rejects.toMatchObject({ code: "DOWNLOAD_FAILED", retryAfterMs: 3_600_000 });
    expect(hub.seen).toHaveLength(1);
  });

  it("a wrong digest is fetched again from the start, once; then it is an error, and nothing of it is kept", async () => {
    await serve({ fault: (seen, times) => (large(1)(seen, times) ? { corrupt: true } : undefined) });
    const { folder } = await store.pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
    await store.remove(reference);
    await serve({ fault: (seen) => (seen.path.endsWith("README.md") ? { corrupt: true } : undefined) });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringMatching(
        /^README\.md of hf:owner\/name is not what was announced, twice: .* has the digest [0-9a-f]{40}, not/,
      ) as string,
    });
    expect(inStore("models")).toEqual([]);
    expect(inStore("downloads").filter((file) => file.startsWith("git-"))).toEqual([]);
  });

  it("what was left by something else is not trusted", async () => {
    const weights = model["onnx/model.onnx"]!;
    await mkdir(join(root, "store/downloads"), { recursive: true });
    await writeFile(join(root, `store/downloads/sha256-${sha256(weights)}.partial`), Buffer.alloc(1000, 7));
    const { folder } = await store.pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(weights)).toBe(true);
  });

  it("a server that knows no parts gives the whole again", async () => {
    await serve({
      fault: (seen, times) =>
        seen.host === "storage" ? { ignoreRange: true, ...(times === 1 ? { cutAfter: 400_000 } : {}) } : undefined,
    });
    const { folder } = await store.pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
  });

  it("cancelled: ABORTED, what arrived stays, and the next pull goes on from there", async () => {
    const control = new AbortController();
    await serve({ fault: (seen, times) => (large(1)(seen, times) ? { stallAfter: 300_000 } : undefined) });
    const pulling = store.pull(reference, { signal: control.signal });
    const onDisk = (): number =>
      inStore("downloads").reduce((sum, name) => sum + statSync(join(root, "store/downloads", name)).size, 0);
    while (onDisk() < 200_000) await new Promise((resolve) => setTimeout(resolve, 5)); // more than all the small files
    control.abort();
    await expect(pulling).rejects.toMatchObject({ code: "ABORTED" });
    expect(inStore("downloads")).toHaveLength(1);
    expect(inStore("locks")).toEqual([]);
    const { folder, fetchedBytes } = await store.pull(reference);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
    expect(fetchedBytes).toBeLessThan(model["onnx/model.onnx"]!.length);
  });
});

describe("access", () => {
  it("the token goes to the hub and to no other host", async () => {
    await openStore({ HF_TOKEN: "secret" }).pull(reference);
    expect(new Set(hub.seen.filter(({ host }) => host === "hub").map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer secret"]),
    );
    expect(new Set(hub.seen.filter(({ host }) => host === "storage").map(({ authorization }) => authorization))).toEqual(
      new Set([undefined]),
    );
  });

  it("the token is found where hf auth login puts it", async () => {
    await mkdir(join(root, "hf"));
    await writeFile(join(root, "hf/token"), "from-file\n");
    await store.pull(reference);
    expect(hub.seen[0]?.authorization).toBe("Bearer from-file");
  });

  it.each([
    ["a stranger", 401, "", "ACCESS_DENIED", /HF_TOKEN/],
    ["a gated model", 403, "GatedRepo", "ACCESS_DENIED", /accept the model's conditions/],
    ["a model that may not exist", 401, "RepoNotFound", "MODEL_NOT_FOUND", /spelling; for a private model set HF_TOKEN/],
    ["no such model", 404, "RepoNotFound", "MODEL_NOT_FOUND", /spelling/],
    ["no such revision", 404, "RevisionNotFound", "MODEL_NOT_FOUND", /spelling/],
  ])("%s: %i %s is %s, asked once", async (_name, status, code, expected, remedy) => {
    await serve({ fault: () => ({ status, headers: { "x-error-code": code } }) });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: expected,
      remedy: expect.stringMatching(remedy) as string,
    });
    expect(hub.seen).toHaveLength(1);
  });

  it.each([
    ["/elsewhere", "it was redirected more than 10 times"],
    ["file:///etc/passwd", "is not followed"],
  ])("a redirect to %s is not followed without end", async (location, message) => {
    await serve({ fault: () => ({ status: 302, headers: { location } }) });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining(message) as string,
    });
    expect(hub.seen.length).toBeLessThan(12);
  });
});

describe("a hub that is not trusted", () => {
  const entry = { type: "file", size: 5, oid: "a".repeat(40) };
  it.each([
    { ...entry, path: "../evil.json" },
    { ...entry, path: "onnx/../../evil.onnx" },
    { ...entry, path: "/etc/passwd" },
    { ...entry, path: "C:\\evil.onnx" },
    { ...entry, path: "c:/evil.onnx" },
    { ...entry, path: "onnx\\evil.onnx" },
    { ...entry, path: "evil\0.onnx" },
    { ...entry, path: "evil\u001B[2J.onnx" },
    { ...entry, path: "" },
    { ...entry, path: 7 },
    { ...entry, path: "a.json", size: -1 },
    { ...entry, path: "a.json", size: 1e300 },
    { ...entry, path: "a.json", size: "5" },
    { ...entry, path: "a.json", oid: "../../../evil" },
    { ...entry, path: "a.json", oid: undefined },
    { ...entry, path: "a.onnx", lfs: { oid: "/etc/passwd", size: 5 } },
  ])("%j is refused, and nothing is fetched", async (hostile) => {
    await serve({ listing: (entries) => [...entries, hostile] });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringContaining("is not trusted") as string,
    });
    expect(toStorage()).toBe(0);
    expect(inStore("models")).toEqual([]);
  });

  it("a name that Windows reads as another is refused where the file is wanted, and does no harm where it is not", async () => {
    await serve({ listing: (entries) => [...entries, { ...entry, path: "onnx/NUL.onnx" }] });
    await expect(store.pull(`${reference}:NUL`)).rejects.toMatchObject({ code: "MODEL_INVALID" });
    expect((await store.pull(reference)).variants).toEqual(["fp32"]);
  });

  it.each([
    ["a page of a proxy", "<html>Please log in</html>", "DOWNLOAD_FAILED"],
    ["nothing", "null", "MODEL_INVALID"],
    ["an object", "{}", "MODEL_INVALID"],
  ])("%s in place of an answer is an error of ours", async (_name, body, code) => {
    await serve({ fault: () => ({ status: 200, headers: { "content-type": "application/json" }, body }) });
    await expect(store.pull(reference)).rejects.toMatchObject({ code });
    await serve({ fault: ({ path }) => (path.includes("/tree/") ? { status: 200, body } : undefined) });
    await expect(store.pull(reference)).rejects.toMatchObject({ code });
  });

  it("one that has no end is refused", async () => {
    const link = (): string => `<${hub.url}/api/models/owner/name/tree/x?cursor=1>; rel="next"`;
    await serve({
      fault: ({ path }) => (path.includes("/tree/") ? { status: 200, headers: { link: link() }, body: "[]" } : undefined),
    });
    await expect(store.pull(reference)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringContaining("200 pages") as string,
    });
  });

  it("one with more files than any model is refused", async () => {
    const many = Array.from({ length: 100_001 }, (_file, index) => ({ ...entry, path: `f${index}` }));
    await serve({ pageSize: 20_000, listing: () => many });
    await expect(store.pull(reference)).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });
});

describe("concurrent pulls", () => {
  it("the same model is fetched once, and the second says for whom it waits", async () => {
    await serve({ bytesPerSecond: 4e6 });
    const stages: PullProgress[] = [];
    const onProgress = (progress: PullProgress): void => void stages.push(progress);
    await Promise.all([store.pull(reference, { onProgress }), openStore().pull(reference, { onProgress })]);
    expect(toStorage()).toBe(1);
    expect(stages.find(({ stage }) => stage === "waiting")?.note).toMatch(/^process \d+ on \S+ is fetching /);
  });

  it("two variants of a model are both kept", async () => {
    await Promise.all([store.pull(reference), openStore().pull(`${reference}:int8`)]);
    const [record] = await store.list();
    expect(record?.variants.map(({ name }) => name).toSorted()).toEqual(["fp32", "int8"]);
  });
});

it("progress: bytes only grow, the total is that of the model, and done comes last", async () => {
  await serve({ bytesPerSecond: 2e6 });
  const reports: PullProgress[] = [];
  const { bytes } = await store.pull(reference, { onProgress: (progress) => void reports.push(progress) });
  const seen = reports.map((report) => report.bytes);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(reports.map(({ stage }) => stage)).toEqual(["listing", ...reports.slice(1, -1).map(() => "fetching"), "done"]);
  expect(reports.at(-1)).toMatchObject({ stage: "done", bytes, totalBytes: bytes });
  expect(reports.some(({ bytesPerSecond, secondsLeft }) => bytesPerSecond > 0 && secondsLeft !== undefined)).toBe(true);
});

describe("Hugging Face's own cache", () => {
  /** As huggingface_hub lays it out. */
  async function fillCache(damaged?: string): Promise<void> {
    const folder = join(root, "hf/hub/models--owner--name");
    await mkdir(join(folder, "refs"), { recursive: true });
    await writeFile(join(folder, "refs/main"), commit);
    for (const [path, bytes] of Object.entries(model)) {
      const isLarge = path.endsWith(".onnx");
      const name = isLarge ? sha256(bytes) : createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
      const place = join(folder, "snapshots", commit, path);
      await mkdir(join(folder, "blobs"), { recursive: true });
      await mkdir(join(place, ".."), { recursive: true });
      await writeFile(join(folder, "blobs", name), path === damaged ? Buffer.alloc(bytes.length) : bytes);
      await symlink(join(folder, "blobs", name), place);
    }
  }

  it("is used without copying and without the network, offline; the model is the same", async () => {
    await fillCache();
    const { folder, fetchedBytes, commit: pulled } = await openStore({ HF_HUB_OFFLINE: "1" }).pull(reference);
    expect(files(folder)).toEqual(["1_Pooling/config.json", "README.md", "config.json", "onnx/model.onnx"]);
    expect({ fetchedBytes, pulled, asked: hub.seen.length }).toEqual({ fetchedBytes: 0, pulled: commit, asked: 0 });
    expect(statSync(join(folder, "onnx/model.onnx")).ino).toBe(
      statSync(join(root, "hf/hub/models--owner--name/blobs", sha256(model["onnx/model.onnx"]!))).ino,
    );
  });

  it("saves the network its files; a damaged one is fetched", async () => {
    await fillCache("onnx/model.onnx");
    const { folder, fetchedBytes } = await store.pull(reference);
    expect(fetchedBytes).toBe(model["onnx/model.onnx"]!.length);
    expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
  });

  it("what it lacks is an error offline", async () => {
    await fillCache("onnx/model.onnx");
    const offline = openStore({ HF_HUB_OFFLINE: "1" });
    await expect(offline.pull(reference)).rejects.toMatchObject({
      code: "MODEL_NOT_FOUND",
      remedy: expect.stringContaining("HF_HUB_OFFLINE") as string,
    });
    await expect(offline.pull("hf:owner/other")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(hub.seen).toHaveLength(0);
  });
});

describe("references to what is in the store", () => {
  const read = (text: string): Promise<Awaited<ReturnType<typeof readManifest>>> =>
    readManifest(text, { dataFolder: join(root, "store") });

  it("work in full, by name and by last part, with and without a variant, and without the network", async () => {
    await store.pull(reference);
    await store.pull(`${reference}:int8`);
    hub.seen.length = 0;
    for (const text of [reference, "hf:owner/name@main", "owner/name", "name", `hf:owner/name@${commit}`]) {
      const manifest = await read(text);
      expect(manifest).toMatchObject({ reference: text, name: "name", license: "mit" });
      expect(manifest.variants.map(({ name }) => name)).toEqual(["fp32", "int8"]);
    }
    for (const text of [`${reference}:int8`, "name:quantized"])
      expect((await read(text)).variants.map(({ name }) => name)).toEqual(["int8"]);
    expect(hub.seen).toHaveLength(0);
  });

  it("are MODEL_NOT_FOUND with the command that fetches, where nothing may be fetched", async () => {
    await store.pull(reference);
    await expect(read("hf:owner/other")).rejects.toMatchObject({ remedy: "fetch it with: inferyard pull hf:owner/other" });
    await expect(read(`${reference}:int8`)).rejects.toMatchObject({ remedy: `fetch it with: inferyard pull ${reference}:int8` });
    await expect(read("nme")).rejects.toMatchObject({ remedy: 'did you mean "name"?' });
  });

  it("are fetched first, the missing variant alone, where that is allowed", async () => {
    const fetched: string[] = [];
    const fetch = async (missing: string): Promise<void> => {
      fetched.push(missing);
      await store.pull(missing);
    };
    const options = { dataFolder: join(root, "store"), fetch };
    expect((await readManifest(reference, options)).variants.map(({ name }) => name)).toEqual(["fp32"]);
    expect((await readManifest(reference, { ...options, variant: "int8" })).variants.map(({ name }) => name)).toEqual([
      "fp32",
      "int8",
    ]);
    await readManifest("name:int8", options);
    expect(fetched).toEqual([reference, `${reference}:int8`]);
  });
});

describe("a file by its address", () => {
  it("is fetched, checked and named; the same file is fetched once", async () => {
    const weights = model["onnx/model.onnx"]!;
    const address = `${hub.url}/owner/name/resolve/main/onnx/model.onnx#sha256:${sha256(weights)}`;
    await serveCutOnce();
    const { name, fetchedBytes } = await store.pull(address.replace(/^http:\/\/[^/]+/, hub.url));
    expect({ name, fetchedBytes }).toEqual({ name: `model.onnx@${sha256(weights).slice(0, 16)}`, fetchedBytes: weights.length });
    const manifest = await readManifest("model.onnx@".concat(sha256(weights).slice(0, 16)), { dataFolder: join(root, "store") });
    expect(manifest).toMatchObject({ source: "file", variants: [{ format: "onnx" }] });
  });

  async function serveCutOnce(): Promise<void> {
    await serve({ fault: (seen, times) => (seen.host === "storage" && times === 1 ? { cutAfter: 300_000 } : undefined) });
  }

  it("with another digest is refused, and nothing is kept", async () => {
    const address = `${hub.url}/owner/name/resolve/main/onnx/model.onnx#sha256:${"0".repeat(64)}`;
    await expect(store.pull(address)).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      message: expect.stringContaining("not 0000") as string,
    });
    expect([inStore("models"), inStore("downloads"), inStore("blobs/sha256")]).toEqual([[], [], []]);
  });
});

describe("a proxy", () => {
  it("is used where the environment names one, and not for hosts it leaves out", async () => {
    const tunnels: string[] = [];
    const proxy: Server = createServer();
    proxy.on("connect", (request, socket) => {
      tunnels.push(request.url ?? "");
      const target = new URL(`http://${request.url}`);
      const upstream = connect(Number(target.port), target.hostname, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [upstream, socket]) end.on("error", () => end.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      await openStore({ HTTP_PROXY: address, NO_PROXY: "127.0.0.1" }).pull(reference);
      expect(tunnels).toEqual([]);
      const { folder } = await openStore({ HTTP_PROXY: address }).pull(`${reference}:int8`);
      expect(bytesAt(folder, "onnx/model_quantized.onnx").equals(model["onnx/model_quantized.onnx"]!)).toBe(true);
      expect(tunnels).toContain(new URL(hub.url).host);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

describe("a full disk", () => {
  async function onSmallDisk(
    megabytes: number,
    skip: (note: string) => void,
    work: (disk: string) => Promise<void>,
  ): Promise<void> {
    const disk = join(root, "store");
    await mkdir(disk);
    try {
      execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "inferyard-test", disk], { stdio: "ignore" });
    } catch {
      return skip("this user may not mount a small disk");
    }
    try {
      await work(disk);
    } finally {
      execFileSync("/usr/bin/umount", [disk]);
    }
  }

  it("is detected before anything large is fetched", async ({ skip }) => {
    await onSmallDisk(1, skip, async () => {
      model["onnx/model.onnx"] = onnx(500_000);
      await serve();
      await expect(store.pull(reference)).rejects.toMatchObject({
        code: "DISK_FULL",
        remedy: expect.stringContaining("inferyard prune") as string,
      });
      expect(toStorage()).toBe(0);
    });
  });

  it("that fills up meanwhile is DISK_FULL; what was fetched stays, and the next pull goes on from there", async ({ skip }) => {
    await onSmallDisk(2, skip, async (disk) => {
      const filler = join(disk, "filler");
      await serve({
        fault: (seen, times) => {
          if (seen.host === "storage" && times === 1)
            execFileSync("/usr/bin/dd", ["if=/dev/zero", `of=${filler}`, "bs=1k", "count=1600"], { stdio: "ignore" });
          return undefined;
        },
      });
      await expect(store.pull(reference)).rejects.toMatchObject({
        code: "DISK_FULL",
        message: expect.stringContaining("ENOSPC") as string,
      });
      expect(inStore("downloads")).toHaveLength(1);
      await rm(filler);
      const { folder, fetchedBytes } = await store.pull(reference);
      expect(bytesAt(folder, "onnx/model.onnx").equals(model["onnx/model.onnx"]!)).toBe(true);
      expect(fetchedBytes).toBeLessThan(model["onnx/model.onnx"]!.length);
    });
  });
});
