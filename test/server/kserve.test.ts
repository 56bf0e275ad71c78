/** Triton's own client (PyPI `tritonclient`), unchanged, against the server. Skipped, and said so, where PyPI cannot be reached. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler } from "../../src/server/handler.ts";
import { type Listening, listen } from "../../src/server/listen.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("fixtures/triton-client.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-triton-"));
const python = join(folder, "bin", "python");

/** Why the client is not there; undefined where it is. */
async function install(): Promise<string | undefined> {
  try {
    await run("python3", ["-m", "venv", "--without-pip", folder], { timeout: 60_000 });
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-compile", "--retries", "0", "--timeout", "10"];
    await run("python3", ["-m", "pip", "--python", python, "install", ...quiet, "tritonclient[http]"], { timeout: 120_000 });
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n").at(-1)?.slice(0, 200) ?? "";
  }
}

const missing = await install();
const title = missing === undefined ? "tritonclient" : `tritonclient (skipped: it cannot be installed from PyPI: ${missing})`;

describe.skipIf(missing !== undefined)(title, () => {
  let runtime: Runtime;
  let listening: Listening;
  beforeAll(async () => {
    runtime = await createRuntime();
    const handler = createHandler(runtime);
    await handler.readiness.warmUp();
    listening = await listen(handler, { port: 0 });
  });
  afterAll(async () => {
    await listening.close();
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it("finds health, metadata and repository, and gets the library's vectors as bytes and as JSON", async () => {
    const texts = ["a cat", "zwölf 🐈", "the quick brown fox"];
    const { stdout } = await run(python, [script, new URL(listening.url).host, JSON.stringify(texts)]);
    const found = JSON.parse(stdout) as Record<string, unknown>;
    const vectors = (await runtime.embed(texts)).embeddings.map((vector) => [...vector]);
    expect(found).toMatchObject({
      live: true,
      ready: true,
      server: { name: "inferyard", extensions: ["binary_tensor_data", "model_configuration", "model_repository", "statistics"] },
      model: { inputs: [{ name: "text", datatype: "BYTES", shape: [-1] }] },
      model_version: ["1"],
      model_ready: true,
      index: [{ name: "builtin", state: "READY" }],
      id: "r1",
      binary: vectors,
      binary_all: vectors,
      json: vectors,
      error: expect.stringContaining("nothing-here"),
      unloaded: true,
    });
    const handle = await runtime.load("builtin");
    const tensor = (data: bigint[]) => ({ dataType: "int64", shape: [1, 3], data: BigInt64Array.from(data) }) as const;
    const outputs = await handle.run({ input_ids: tensor([5n, 6n, 7n]), attention_mask: tensor([1n, 1n, 1n]) });
    await handle.dispose();
    expect(found["raw"]).toEqual([...(Object.values(outputs)[0]!.data as Float32Array)]);
  });

  it("runs the guide's example", async () => {
    const [printed, said] = await guideExample("tritonclient, PyPI", { url: listening.url, folder, python });
    expect(printed).toEqual(said);
  });
});

interface Said {
  readonly platform: string;
  readonly properties: object;
  readonly inputs: unknown;
}

const [skip, modelsTitle] = needsData("KServe: models that judge texts");
describe.skipIf(skip)(modelsTitle, () => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  const models = { judge: `${sharedData}tiny-bert-nli-untrained`, ranker: `${sharedData}tiny-random-cross-encoder` };

  async function infer(
    model: string,
    data: readonly string[],
    shape: readonly number[],
    outputs?: string[],
  ): Promise<Record<string, unknown[]>> {
    const body = JSON.stringify({
      inputs: [{ name: "text", datatype: "BYTES", shape, data }],
      outputs: outputs?.map((name) => ({ name })),
    });
    const request = new Request(`http://localhost/v2/models/${model}/infer`, { method: "POST", body });
    const answer = (await (await createHandler(runtime, { models })(request)).json()) as {
      outputs: { name: string; shape: number[]; data: unknown[] }[];
    };
    return Object.fromEntries(answer.outputs.map(({ name, data: values }) => [name, values]));
  }

  it("says what a model takes and gives from its files as from memory, and loads nothing for that", async () => {
    const graph = `${sharedData}tiny-random-vit/onnx/model.onnx`;
    const own = await createRuntime({ host: "inline", threads: 1 });
    try {
      const handler = createHandler(own, { models: { ...models, graph } });
      const describe = async (name: string): Promise<Said> => {
        const headers = { "x-inferyard-target": "require=onnx" };
        const answer = await handler(new Request(`http://localhost/v2/models/${name}`, { headers }));
        return (await answer.json()) as Said;
      };
      for (const [name, reference] of Object.entries({ ...models, graph })) {
        const { properties, platform: _format, ...fromFiles } = await describe(name);
        expect(own.memory().models).toEqual([]);
        await own.use(reference, { target: "onnx:auto" }, async ({ target }) => {
          const { platform: _library, ...fromMemory } = await describe(name);
          expect(fromMemory).toEqual({ ...fromFiles, properties: { ...properties, target } });
        });
        await own.unloadIdle();
      }
    } finally {
      await own.dispose();
    }
  });

  it("gives label and score of each text, as classify does", async () => {
    const texts = ["a cat sits", "nothing at all"];
    const { results } = await runtime.classify(texts, { model: models.judge });
    expect(await infer("judge", texts, [2])).toEqual({
      label: results.map(([first]) => first!.label),
      score: results.map(([first]) => Math.fround(first!.score)),
    });
  });

  it("gives the score of each pair of query and document, as rerank does, in the order given", async () => {
    const pairs = [
      ["what is a cat", "an animal"],
      ["who wrote it", "nobody knows"],
      ["what is a cat", "a planet far away"],
    ] as const;
    const { score } = await infer("ranker", pairs.flat(), [3, 2], ["score"]);
    const first = await runtime.rerank("what is a cat", ["an animal", "a planet far away"], { model: models.ranker });
    const second = await runtime.rerank("who wrote it", ["nobody knows"], { model: models.ranker });
    const scoreOf = (ranking: typeof first, index: number): number =>
      Math.fround(ranking.results.find((result) => result.index === index)!.score);
    expect(score).toEqual([scoreOf(first, 0), scoreOf(second, 0), scoreOf(first, 1)]);
  });
});
