/** Pulling through the built program: killed at any moment it goes on where it was, and two at once fetch once. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PullProgress, createRuntime } from "inferyard";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type HubStandIn, folderOf, startHub } from "../fixtures/models/hub-stand-in.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
const miniLm = `${sharedData}all-MiniLM-L6-v2`;
const reference = "hf:sentence-transformers/all-MiniLM-L6-v2";

let hub: HubStandIn;
let home = "";
const children = new Set<ChildProcess>();

beforeAll(async () => {
  if (!hasSharedData) return;
  hub = await startHub({ models: { "sentence-transformers/all-MiniLM-L6-v2": await folderOf(miniLm) } });
});
afterAll(() => hub?.close());
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

function freshHome(): void {
  home = mkdtempSync(join(tmpdir(), "inferyard-pull-"));
  hub.seen.length = 0;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(...args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Outcome> } {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(INFERYARD_|HF_|HUGGING|https?_proxy|no_proxy)/i.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    INFERYARD_HOME: join(home, "store"),
    HF_HOME: join(home, "hf"),
    HF_ENDPOINT: hub.url,
  };
  const child = spawn(process.execPath, [program, ...args], { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  const written = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk) => (written.stdout += String(chunk)));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (written.stderr += String(chunk)));
  const ended = new Promise<Outcome>((resolve) => {
    child.on("close", (code) => {
      children.delete(child);
      resolve({ code, ...written });
    });
  });
  return { child, ended };
}

/** Waits until that many bytes were served in all. */
async function servedAtLeast(bytes: number, ended: Promise<unknown>): Promise<void> {
  const state = { over: false };
  void ended.then(() => (state.over = true));
  while (hub.served() < bytes && !state.over) await new Promise((resolve) => setTimeout(resolve, 2));
}

const list = (folder: string): string[] =>
  existsSync(join(home, "store", folder)) ? readdirSync(join(home, "store", folder)) : [];
const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Whole, right, and nothing besides. */
function expectWholeModel(): void {
  expect({ downloads: list("downloads"), locks: list("locks"), models: list("models") }).toEqual({
    downloads: [],
    locks: [],
    models: ["sentence-transformers%2Fall-MiniLM-L6-v2.json"],
  });
  const [tree = "", ...otherTrees] = list("trees");
  expect(otherTrees).toEqual([]);
  const folder = join(home, "store", "trees", tree);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  expect(files).toContain("onnx/model.onnx");
  expect(files).toContain("1_Pooling/config.json");
  for (const file of files) expect(sha256(join(folder, file)), file).toBe(sha256(join(miniLm, file)));
  expect(list("blobs/sha256").toSorted()).toEqual([...new Set(files.map((file) => sha256(join(folder, file))))].toSorted());
}

const [skip, name] = needsData("inferyard pull");
describe.skipIf(skip)(name, () => {
  const kills = amount(10, 3);
  it(`killed with SIGKILL at ${kills} random moments, goes on each time and ends whole`, async () => {
    freshHome();
    hub.options = { ...hub.options, bytesPerSecond: 64e6 };
    const whole = statSync(join(miniLm, "onnx/model.onnx")).size;
    const moments = Array.from({ length: kills }, () => Math.random() * 0.95 * whole).toSorted((a, b) => a - b);
    for (const [index, moment] of moments.entries()) {
      const { child, ended } = start("pull", reference);
      // What was served to those that were killed may have been lost with them.
      await servedAtLeast(Math.max(moment, hub.served() + 1), ended);
      child.kill("SIGKILL");
      expect((await ended).code, `pull ${index + 1} was killed on its way`).toBeNull();
      expect(list("models")).toEqual([]);
    }
    const { code, stderr, stdout } = await start("pull", reference).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^sentence-transformers\/all-MiniLM-L6-v2 {3}fp32, 11 files, 91 MB {3}/);
    expectWholeModel();
    const starts = hub.seen
      .filter(({ host }) => host === "storage")
      .map(({ range }) => Number(/\d+/.exec(range ?? "0")?.[0] ?? 0));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(new Set(starts).size).toBeGreaterThan(kills / 2);
    // As many pulls from the start would be several times as much. What was on its way when one was killed comes twice: 2 MB in all, measured.
    expect(hub.served()).toBeLessThan(1.2 * whole);
  });

  it("two at once fetch once", async () => {
    freshHome();
    hub.options = { ...hub.options, bytesPerSecond: 64e6 };
    const [one, other] = await Promise.all([start("pull", reference, "--json").ended, start("pull", reference, "--json").ended]);
    expect([one?.code, other?.code]).toEqual([0, 0]);
    const fetched = [one, other].map((outcome) => (JSON.parse(outcome?.stdout ?? "") as { fetchedBytes: number }).fetchedBytes);
    expect(fetched[0]! + fetched[1]!).toBe(hub.served());
    expect(hub.seen.filter(({ host }) => host === "storage")).toHaveLength(1);
    expectWholeModel();
  });

  it("a model that is not in the store is fetched when it is loaded; after that neither the hub nor a network is needed", async () => {
    freshHome();
    hub.options = { ...hub.options, bytesPerSecond: undefined };
    const model = `${reference}:int8`;
    const first = await start("embed", "a cat", "--model", model, "--json").ended;
    expect(first.stderr).toMatch(/^inferyard: hf:sentence-transformers\/all-MiniLM-L6-v2:int8 is in the store now \(23 MB\)$/m);
    expect(JSON.parse(first.stdout)).toMatchObject({ model, dimensions: 384, decision: { model: { variant: "int8" } } });
    hub.seen.length = 0;
    const second = await start("embed", "a cat", "--model", "all-MiniLM-L6-v2", "--offline", "--json").ended;
    expect(second.stderr).toBe("");
    const embeddingsOf = ({ stdout }: Outcome): unknown => (JSON.parse(stdout) as { embeddings: unknown }).embeddings;
    expect(embeddingsOf(second)).toEqual(embeddingsOf(first));
    const other = await start("embed", "a cat", "--model", "all-MiniLM-L6-v2", "--offline", "--variant", "fp32").ended;
    expect({ code: other.code, stderr: other.stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("[MODEL_NOT_FOUND]") as string,
    });
    expect(hub.seen).toEqual([]);
  });

  it("a program is told how far the download is, and can cancel it", async () => {
    freshHome();
    hub.options = { ...hub.options, bytesPerSecond: 2e6 };
    const environment = { INFERYARD_HOME: join(home, "store"), HF_HOME: join(home, "hf"), HF_ENDPOINT: hub.url };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const control = new AbortController();
    const events: PullProgress[] = [];
    const runtime = await createRuntime({
      onEvent: (event) => {
        if (event.type !== "download") return;
        events.push(event.progress);
        if (event.progress.bytes > 1e6) control.abort();
      },
    });
    await expect(runtime.load(`${reference}:int8`, { signal: control.signal })).rejects.toMatchObject({ code: "ABORTED" });
    await runtime.dispose();
    vi.unstubAllEnvs();
    expect(events.at(-1)).toMatchObject({ stage: "fetching", file: "onnx/model_quantized.onnx" });
    expect(hub.served()).toBeLessThan(5e6);
  });
});
