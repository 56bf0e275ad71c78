/** Looking after the store: removing, pruning, checking, names. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubStandIn, startHub } from "../../../test/fixtures/models/hub-stand-in.ts";
import { smallModel } from "../../../test/fixtures/models/small-model.ts";
import { readManifest } from "../index.ts";
import { type ModelStore, createStore } from "../model-store.ts";
import { storeLayout } from "./layout.ts";
import { currentHolder } from "../../storage/lock-holder.ts";
import { delay } from "../../storage/lock.ts";
import { withLock } from "../../storage/lock.ts";
import { withRunningPull } from "./running-pulls.ts";

const shared = smallModel();
const other = { ...shared, "onnx/model.onnx": smallModel()["onnx/model.onnx"]! };
let hub: HubStandIn;
let root = "";
let folder = "";
let store: ModelStore;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "inferyard-store-"));
  folder = join(root, "store");
  hub = await startHub({ models: { "one/name": shared, "two/name": other, "two/unique-name": other } });
  store = createStore({ folder, environment: { HF_ENDPOINT: hub.url, HF_HOME: join(root, "hf") } });
});
afterEach(async () => {
  await hub.close();
  await rm(root, { recursive: true });
});

const list = (name: string): string[] => (existsSync(join(folder, name)) ? readdirSync(join(folder, name)) : []);
const blobs = (): string[] => list("blobs/sha256");

describe("names", () => {
  it("are full, or the last part where one model has it; several are named", async () => {
    await store.pull("hf:one/name");
    await store.pull("hf:two/unique-name");
    expect((await store.find("name"))?.name).toBe("one/name");
    expect((await store.find("unique-name:fp32"))?.name).toBe("two/unique-name");
    expect(await store.find("unknown")).toBeUndefined();
    await store.pull("hf:two/name");
    await expect(store.find("name")).rejects.toMatchObject({ message: '"name" could be one/name or two/name' });
    expect((await store.find("two/name"))?.name).toBe("two/name");
    await expect(store.remove("nmae")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND", remedy: 'did you mean "name"?' });
  });
});

describe("a record that is damaged", () => {
  const recordFile = (name: string): string => join(folder, "models", `${encodeURIComponent(name)}.json`);
  const outside = (): string[] => readdirSync(root).filter((name) => !["store", "hf"].includes(name));

  /** A record with one thing in it changed. */
  function forge(change: (record: Record<string, unknown>) => void): void {
    const record = JSON.parse(readFileSync(recordFile("one/name"), "utf8")) as Record<string, unknown>;
    change(record);
    writeFileSync(recordFile("one/name"), JSON.stringify(record));
  }

  it("leaves the other models usable, is reported, and is replaced by a pull", async () => {
    await store.pull("hf:one/name");
    await store.pull("hf:two/unique-name");
    const path = recordFile("one/name");
    writeFileSync(path, readFileSync(path, "utf8").slice(0, 100));
    expect((await store.list()).map(({ name }) => name)).toEqual(["two/unique-name"]);
    expect((await readManifest("unique-name", { dataFolder: folder })).variants).toHaveLength(1);
    const remedy = "inferyard pull hf:one/name";
    const { damaged } = await store.inventory();
    expect(damaged).toMatchObject([{ name: "one/name", path, remedy, problem: expect.stringContaining("not JSON") as string }]);
    for (const text of ["hf:one/name", "one/name"]) {
      await expect(readManifest(text, { dataFolder: folder })).rejects.toMatchObject({ code: "MODEL_INVALID", remedy });
    }
    for (const text of [undefined, "one/name"]) {
      const report = await store.check(text);
      expect(report.damaged).toMatchObject([{ name: "one/name", file: path, remedy }]);
    }
    await store.pull("one/name");
    expect((await store.inventory()).damaged).toEqual([]);
    expect((await store.check()).damaged).toEqual([]);
    expect((await readManifest("one/name", { dataFolder: folder })).variants).toHaveLength(1);
  });

  it("keeps the content it still names from being pruned, and can be removed", async () => {
    await store.pull("hf:one/name");
    const before = blobs();
    const path = recordFile("one/name");
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -3));
    await store.prune();
    expect(blobs()).toEqual(before);
    await store.remove("one/name");
    await store.prune();
    expect([blobs(), list("models")]).toEqual([[], []]);
  });

  it.each([
    "../../escaped",
    "a/../../../escaped",
    "/tmp/escaped",
    "C:/escaped",
    "..\\..\\escaped",
    "a\0b",
    "./config.json",
    "a//b",
    "",
    "con",
    "x".repeat(300),
    "CONFIG.json",
  ])("is what names a file %j: no link is made for it, and check tells", async (path) => {
    await store.pull("hf:one/name");
    await rm(join(folder, "trees"), { recursive: true });
    forge((record) => (record["files"] = [...(record["files"] as object[]), { ...(record["files"] as object[])[0]!, path }]));
    await expect(readManifest("one/name", { dataFolder: folder })).rejects.toMatchObject({ code: "MODEL_INVALID" });
    expect((await store.check()).damaged).toMatchObject([
      { name: "one/name", problem: expect.stringContaining("the file") as string },
    ]);
    expect([outside(), list("trees")]).toEqual([[], []]);
    await store.pull("one/name");
    expect((await store.check()).damaged).toEqual([]);
  });

  it.each([
    ["no files", (record: Record<string, unknown>) => (record["files"] = [])],
    ["a size below 0", (record: Record<string, unknown>) => ((record["files"] as { size: number }[])[0]!.size = -1)],
    ["a tree elsewhere", (record: Record<string, unknown>) => (record["tree"] = "../../..")],
    ["the name of another", (record: Record<string, unknown>) => (record["name"] = "two/name")],
    ["a reference to a file", (record: Record<string, unknown>) => (record["reference"] = "/etc/passwd")],
    ["no time", (record: Record<string, unknown>) => (record["pulledAt"] = "yesterday")],
    ["tasks that are none", (record: Record<string, unknown>) => (record["tasks"] = {})],
    ["a commit that is none", (record: Record<string, unknown>) => (record["commit"] = 7)],
  ])("is one with %s", async (_what, change) => {
    await store.pull("hf:one/name");
    forge(change);
    expect(await store.list()).toEqual([]);
    expect((await store.inventory()).damaged).toMatchObject([{ name: "one/name" }]);
  });

  it.skipIf(process.platform === "win32")("is a pipe, a folder, or a link to itself, and nothing waits for it", async () => {
    await store.pull("hf:two/name");
    execFileSync("mkfifo", [recordFile("a/pipe")]);
    await mkdir(recordFile("a/folder"));
    await symlink(recordFile("a/loop"), recordFile("a/loop"));
    expect((await store.list()).map(({ name }) => name)).toEqual(["two/name"]);
    expect((await store.inventory()).damaged.map(({ name }) => name)).toEqual(["a/folder", "a/loop", "a/pipe"]);
  });

  it.each(["repository", "revision", "commit"])("is one whose %s is no text", async (key) => {
    await store.pull("hf:one/name");
    forge((record) => (record[key] = null));
    expect(await store.list()).toEqual([]);
    expect((await store.inventory()).damaged).toMatchObject([{ problem: expect.stringContaining(key) as string }]);
  });
});

it("the last use is that of the last read, and a store that may not be written to is read all the same", async () => {
  await store.pull("hf:one/name");
  const path = join(folder, "models", list("models")[0]!);
  await utimes(path, 1, 1);
  expect((await store.list())[0]?.lastUsed).toBe("1970-01-01T00:00:01.000Z");
  await readManifest("hf:one/name", { dataFolder: folder });
  expect(Date.parse((await store.list())[0]!.lastUsed)).toBeGreaterThan(1e12);
});

describe("removing", () => {
  it("frees what no other model has, earlier trees with it", async () => {
    await store.pull("hf:one/name");
    await store.pull("hf:one/name:int8");
    await store.pull("hf:two/name");
    const own = shared["onnx/model.onnx"]!.length + shared["onnx/model_quantized.onnx"]!.length;
    expect(await store.remove("one/name")).toEqual({ name: "one/name", freedBytes: own });
    expect((await store.check()).damaged).toEqual([]);
    expect((await store.list()).map(({ name }) => name)).toEqual(["two/name"]);
    await store.remove("name");
    expect([blobs(), list("trees"), list("models"), list("blobs/git-sha1"), list("locks")]).toEqual([[], [], [], [], []]);
  });

  it("a variant alone is refused", async () => {
    await store.pull("hf:one/name");
    await expect(store.remove("hf:one/name:fp32")).rejects.toMatchObject({
      code: "INPUT_INVALID",
      remedy: "inferyard remove one/name",
    });
    expect(await store.list()).toHaveLength(1);
  });
});

describe("pruning", () => {
  it("removes what nothing needs and what dead processes left, and says how much; models stay whole", async () => {
    await store.pull("hf:one/name");
    await store.pull("hf:one/name:int8"); // the first tree is not needed any more
    const dead = { ...(await currentHolder()), started: "1", token: "x" };
    await mkdir(join(folder, "downloads"), { recursive: true });
    await writeFile(join(folder, "downloads/sha256-x.partial"), Buffer.alloc(5000));
    await writeFile(join(folder, "blobs/sha256", "a".repeat(64)), Buffer.alloc(7000));
    await writeFile(join(folder, "locks/sha256-x.lock"), JSON.stringify(dead));
    expect(await store.prune()).toEqual({ blobs: 1, trees: 1, downloads: 1, locks: 1, freedBytes: 12_000, pullRunning: false });
    expect(await store.prune()).toMatchObject({ blobs: 0, trees: 0, downloads: 0, locks: 0, freedBytes: 0 });
    expect((await store.check()).damaged).toEqual([]);
    expect([list("downloads"), list("locks"), list("trees").length]).toEqual([[], [], 1]);
  });

  it("leaves a running pull what it has fetched", async () => {
    await store.pull("hf:one/name");
    await withRunningPull(storeLayout(folder), async () => {
      await mkdir(join(folder, "downloads"), { recursive: true });
      const mine = [join(folder, "blobs/sha256", "a".repeat(64)), join(folder, "downloads/sha256-x.partial")];
      const old = join(folder, "blobs/sha256", "b".repeat(64));
      for (const path of [...mine, old]) await writeFile(path, "content");
      await utimes(old, 1, 1);
      expect(await store.prune()).toMatchObject({ blobs: 1, downloads: 0, pullRunning: true });
      expect(mine.map((path) => existsSync(path))).toEqual([true, true]);
    });
    expect(await store.prune()).toMatchObject({ blobs: 1, downloads: 1, pullRunning: false });
  });

  it("keeps a download that a pull continues, although no pull was running when pruning began", async () => {
    await store.pull("hf:one/name");
    await mkdir(join(folder, "downloads"), { recursive: true });
    const partial = join(folder, "downloads/sha256-x.partial");
    await writeFile(partial, "content");
    await utimes(partial, 1, 1);
    await withLock(join(storeLayout(folder).locks, "sha256-x.lock"), async () => {
      expect(await store.prune()).toMatchObject({ downloads: 0, pullRunning: false });
    });
    expect(existsSync(partial)).toBe(true);
    expect(await store.prune()).toMatchObject({ downloads: 1 });
  });

  it("never removes files that concurrent pulls need", async () => {
    hub.options = { ...hub.options, bytesPerSecond: 8e6 };
    const pulling = Promise.all([store.pull("hf:one/name"), store.pull("hf:two/name"), store.pull("hf:one/name:int8")]);
    const state = { over: false };
    void pulling.finally(() => (state.over = true));
    while (!state.over) {
      await store.prune();
      await delay(25);
    }
    await pulling;
    expect((await store.check()).damaged).toEqual([]);
    expect(hub.seen.filter(({ host }) => host === "storage")).toHaveLength(3);
  });
});

describe("checking", () => {
  const place = async (path: string): Promise<string> => join(folder, "trees", (await store.find("name"))!.tree, path);

  it.each([
    [
      "whose content changed",
      async (path: string) => writeFile(path, "x".repeat(statSync(path).size)),
      /^its content has changed$/,
    ],
    ["that was cut off", async (path: string) => writeFile(path, "x"), /^it has 1 bytes, and had \d+ when it was pulled$/],
    ["that is gone", async (path: string) => rm(path), /^it is missing$/],
  ])("names a file %s, and the pull it names mends it", async (_name, damage, problem) => {
    await store.pull("hf:one/name");
    await store.pull("hf:one/name:int8");
    expect(await store.check("name")).toMatchObject({ models: ["one/name"], files: 5, damaged: [] });
    const path = await place("onnx/model_quantized.onnx");
    await chmod(path, 0o644);
    await damage(path);
    const { damaged } = await store.check();
    expect(damaged).toEqual([
      {
        name: "one/name",
        file: "onnx/model_quantized.onnx",
        problem: expect.stringMatching(problem) as string,
        remedy: "inferyard pull hf:one/name:int8",
      },
    ]);
    await store.pull(damaged[0]!.remedy.replace("inferyard pull ", ""));
    expect((await store.check()).damaged).toEqual([]);
    expect(readFileSync(await place("onnx/model_quantized.onnx")).equals(shared["onnx/model_quantized.onnx"]!)).toBe(true);
  });

  it("a tree that is gone is made again when the model is read", async () => {
    await store.pull("hf:one/name");
    await rm(join(folder, "trees"), { recursive: true });
    expect((await readManifest("name", { dataFolder: folder })).variants).toHaveLength(1);
    await rm(join(folder, "trees"), { recursive: true });
    await rm(join(folder, "blobs"), { recursive: true });
    await expect(readManifest("name", { dataFolder: folder })).rejects.toMatchObject({
      remedy: "fetch it with: inferyard pull hf:one/name",
    });
  });
});
