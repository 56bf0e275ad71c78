/**
 * The clients of Azure OpenAI, Infinity, KServe and Triton, unchanged, against `inferyard serve` in a process of its own. Where a
 * registry cannot be reached the tests say so and are skipped.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installNpm, installPython, installedModule, needsInstalled, pythonOf, runPython } from "../fixtures/installed.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { onRequest } from "../fixtures/slow.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-clients-"));
const servers = new ServerProcesses();
let server: ServerProcess;
const classifier = `${sharedData}tiny-bert-nli-untrained`;
beforeAll(async () => (server = await servers.serve([], hasSharedData ? { models: { nli: classifier } } : {})));
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const texts = ["a cat sits on the mat", "ein Satz"];

async function vectorsOfLibrary(): Promise<number[][]> {
  const runtime = await createRuntime();
  const { embeddings } = await runtime.embed(texts);
  await runtime.dispose();
  return embeddings.map((vector) => [...vector]);
}

const floats = (rows: unknown): number[][] => (rows as number[][]).map((row) => row.map(Math.fround));

/** Runs a Python program of these lines; it finds the address in `url` and the texts in `texts`. */
function run(where: string, ...lines: string[]): Record<string, unknown> {
  const head = ["import json, os", 'url = os.environ["URL"]', 'texts = json.loads(os.environ["INPUT"])'];
  return runPython(where, [...head, ...lines], { URL: server.url, INPUT: JSON.stringify(texts) }) as Record<string, unknown>;
}

/** An empty folder, whose Python environment has packages that exclude those of another. */
function folderOf(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** The part of openai that is used here: it is no dependency, so its types are not there. */
interface OpenAiModule {
  readonly AzureOpenAI: new (options: object) => {
    readonly embeddings: { create(request: object): Promise<{ data: { embedding: number[] }[] }> };
    readonly models: { list(): AsyncIterable<{ id: string }> };
  };
  readonly NotFoundError: new () => Error;
}

describe("npm: openai@6.49.0, AzureOpenAI", () => {
  needsInstalled(() => installNpm(folder, ["openai@6.49.0"]));

  it("embeds by deployment, lists models, and throws its own errors", async () => {
    const { AzureOpenAI, NotFoundError } = await installedModule<OpenAiModule>(folder, "openai");
    const options = { endpoint: server.url, apiKey: "none", apiVersion: "2024-10-21", maxRetries: 0 };
    const vectors = await vectorsOfLibrary();
    const clients = [new AzureOpenAI(options), new AzureOpenAI({ ...options, deployment: "builtin" })];
    for (const client of clients) {
      const { data } = await client.embeddings.create({ model: "builtin", input: texts });
      expect(data.map(({ embedding }) => [...embedding])).toEqual(vectors);
    }
    const names: string[] = [];
    for await (const { id } of clients[0]!.models.list()) names.push(id);
    expect(names).toContain("builtin");
    await expect(clients[0]!.embeddings.create({ model: "nothing", input: "a" })).rejects.toBeInstanceOf(NotFoundError);
  });
});

const small = ["openai==3.54.0", "tritonclient[http]==2.73.0"];
describe(`PyPI: ${small.join(", ")}`, () => {
  const where = folderOf("small");
  needsInstalled(() => installPython(where, small));

  it("AzureOpenAI embeds by deployment", async () => {
    const answer = run(
      where,
      "from openai import AzureOpenAI",
      'client = AzureOpenAI(azure_endpoint=url, api_key="none", api_version="2024-10-21")',
      'own = AzureOpenAI(azure_endpoint=url, azure_deployment="builtin", api_key="none", api_version="2024-10-21")',
      'rows = [[d.embedding for d in one.embeddings.create(model=model, input=texts).data] for one, model in ((client, "builtin"), (own, "text-embedding-3-small"))]',
      "print(json.dumps(dict(rows=rows, models=[m.id for m in client.models.list()])))",
    );
    const vectors = await vectorsOfLibrary();
    expect((answer["rows"] as unknown[]).map(floats)).toEqual([vectors, vectors]);
    expect(answer["models"]).toContain("builtin");
  });

  it("runs the guide's example", async () => {
    const place = { url: server.url, folder: where, python: pythonOf(where) };
    const [printed, said] = await guideExample("AzureOpenAI, PyPI", place);
    expect(printed).toEqual(said);
  });

  it("tritonclient reads configuration and statistics", () => {
    const answer = run(
      where,
      "import tritonclient.http as http",
      'client = http.InferenceServerClient(url.removeprefix("http://"))',
      'config = client.get_model_config("builtin")',
      'stats = client.get_inference_statistics("builtin")["model_stats"][0]',
      "every = client.get_inference_statistics()",
      'print(json.dumps(dict(config=config, stats=stats, names=[one["name"] for one in every["model_stats"]], live=client.is_server_live())))',
    );
    expect(answer).toMatchObject({
      config: { name: "builtin", max_batch_size: 0, input: [{ name: "text", data_type: "TYPE_STRING", dims: [-1] }] },
      stats: { name: "builtin", version: "1" },
      names: expect.arrayContaining(["builtin"]),
      live: true,
    });
    expect((answer["stats"] as { inference_count: number }).inference_count).toBeGreaterThan(0);
  });
});

const [skipKserve, kserve] = onRequest("PyPI: kserve==0.21.0", "installing its 60 dependencies takes a minute");
describe.skipIf(skipKserve)(kserve, () => {
  const where = folderOf("kserve");
  needsInstalled(() => installPython(where, ["kserve==0.21.0"]));

  it("KServe's client asks for health and readiness, and predicts in both versions of the protocol", async () => {
    const answer = run(
      where,
      "import asyncio",
      "from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig",
      "async def ask():",
      '    v1, v2 = [InferenceRESTClient(RESTConfig(protocol=protocol)) for protocol in ("v1", "v2")]',
      '    one = await v1.infer(url, {"instances": texts}, model_name="builtin")',
      '    ready = [await v2.is_server_live(url), await v2.is_server_ready(url), await v2.is_model_ready(url, "builtin"), await v1.is_model_ready(url, "builtin")]',
      '    inputs = [InferInput("text", [len(texts)], "BYTES", data=texts)]',
      '    two = await v2.infer(url, InferRequest("builtin", inputs), model_name="builtin")',
      "    return dict(one=one['predictions'], two=two.outputs[0].data, ready=ready)",
      "print(json.dumps(asyncio.run(ask())))",
    );
    const vectors = await vectorsOfLibrary();
    expect(floats(answer["one"])).toEqual(vectors);
    expect(floats([answer["two"]])).toEqual([vectors.flat()]);
    expect(answer["ready"]).toEqual([true, true, true, true]);
  });
});

describe("PyPI: infinity_client==0.0.78", () => {
  const where = folderOf("infinity");
  needsInstalled(() => installPython(where, ["infinity_client==0.0.78"]));

  it("reads models and health, and gets the error of a model that cannot classify", () => {
    const answer = run(
      where,
      "from infinity_client import Client",
      "from infinity_client.api.default import classify, health, models",
      "from infinity_client.models import ClassifyInput",
      "client = Client(base_url=url)",
      "listed = models.sync(client=client)",
      "refused = classify.sync_detailed(client=client, body=ClassifyInput(input_=texts))",
      "print(json.dumps(dict(ids=[one.id for one in listed.data], can=listed.data[0].capabilities, unix=health.sync(client=client).additional_properties['unix'], status=refused.status_code)))",
    );
    expect(answer).toMatchObject({
      ids: expect.arrayContaining(["builtin"]),
      can: expect.arrayContaining(["embed"]),
      unix: expect.any(Number),
      status: 422,
    });
  });

  it.skipIf(!hasSharedData)("classifies as the library does", async () => {
    const answer = run(
      where,
      "from infinity_client import Client",
      "from infinity_client.api.default import classify",
      "from infinity_client.models import ClassifyInput",
      'given = classify.sync(client=Client(base_url=url), body=ClassifyInput(input_=texts, model="nli"))',
      "print(json.dumps(dict(data=[[dict(label=one.label, score=one.score) for one in list_] for list_ in given.data], tokens=given.usage.total_tokens)))",
    );
    const runtime = await createRuntime();
    const { results, tokens } = await runtime.classify(texts, { model: classifier });
    await runtime.dispose();
    expect(answer).toEqual({
      data: results.map((list) => list.map(({ label, score }) => ({ label, score }))),
      tokens: tokens.reduce((sum, count) => sum + count, 0),
    });
  });

  it("runs the guide's example", async () => {
    const [printed, said] = await guideExample("infinity_client, PyPI", {
      url: server.url,
      folder: where,
      python: pythonOf(where),
    });
    expect(printed).toEqual(said);
  });
});
