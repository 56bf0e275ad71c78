/**
 * Cohere's, Ollama's and LangChain's clients, unchanged, against `inferyard serve` in a process of its own.
 * Where a registry cannot be reached the tests say so and are skipped.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installNpm, installPython, installedModule, needsInstalled, pythonOf, runPython } from "../fixtures/installed.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { onRequest } from "../fixtures/slow.ts";
import { clientPackage, npmClients, pythonClients } from "./fixtures/client-packages.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-clients-"));
const servers = new ServerProcesses();
let server: ServerProcess;
beforeAll(async () => (server = await servers.serve([])));
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

const texts = ["a cat sits on the mat", "ein Satz", "a dog"];

/** What the library says of the same texts. */
async function expected(): Promise<{ vectors: number[][]; tokens: number }> {
  const runtime = await createRuntime();
  const { embeddings, tokens } = await runtime.embed(texts);
  await runtime.dispose();
  return { vectors: embeddings.map((vector) => [...vector]), tokens: tokens.reduce((sum, count) => sum + count, 0) };
}

/** The part of cohere-ai that is used here: it is no dependency, so its types are not there. */
interface CohereModule {
  readonly CohereClient: new (options: object) => {
    embed(request: object): Promise<{ embeddings: unknown; meta: { billedUnits: { inputTokens: number } } }>;
    readonly models: { list(request: object): Promise<{ models: { name: string }[] }> };
  };
  readonly CohereClientV2: new (options: object) => {
    embed(request: object): Promise<{ embeddings: { float: number[][]; int8: number[][]; base64: string[] } }>;
  };
}

/** The part of ollama that is used here. */
interface OllamaModule {
  readonly Ollama: new (options: { host: string }) => {
    embed(request: object): Promise<{ embeddings: number[][]; total_duration: number; prompt_eval_count: number }>;
    embeddings(request: object): Promise<{ embedding: number[] }>;
    list(): Promise<{ models: { name: string; details: { format: string } }[] }>;
    show(request: object): Promise<{ capabilities: string[] }>;
    ps(): Promise<{ models: { name: string }[] }>;
    version(): Promise<{ version: string }>;
  };
}

describe(`npm: ${["cohere-ai", "ollama"].map((name) => clientPackage(npmClients, name)).join(", ")}`, () => {
  needsInstalled(() => installNpm(folder, npmClients));

  it("cohere-ai embeds in both versions of its API, and lists models", async () => {
    const { CohereClient, CohereClientV2 } = await installedModule<CohereModule>(folder, "cohere-ai");
    const { vectors, tokens } = await expected();
    const options = { token: "none", environment: server.url };
    const first = new CohereClient(options);
    const { embeddings, meta } = await first.embed({ model: "builtin", texts, inputType: "search_document" });
    expect([embeddings, meta.billedUnits.inputTokens]).toEqual([vectors, tokens]);
    const second = new CohereClientV2(options);
    const typed = await second.embed({
      model: "builtin",
      texts,
      inputType: "search_query",
      embeddingTypes: ["float", "int8", "base64"],
    });
    expect(typed.embeddings.float).toEqual(vectors);
    expect(typed.embeddings.int8).toEqual(vectors.map((vector) => vector.map((value) => Math.round(127 * value) + 0)));
    const bytes = Buffer.from(typed.embeddings.base64[0]!, "base64");
    expect(vectors[0]!.map((_value, index) => bytes.readFloatLE(4 * index))).toEqual(vectors[0]);
    expect((await first.models.list({ endpoint: "embed" })).models.map(({ name }) => name)).toContain("builtin");
  });

  it("ollama embeds, describes models, and its errors are texts", async () => {
    const { Ollama } = await installedModule<OllamaModule>(folder, "ollama");
    const { vectors, tokens } = await expected();
    const client = new Ollama({ host: server.url });
    const answer = await client.embed({
      model: "builtin",
      input: texts,
      truncate: true,
      keep_alive: "5m",
      options: { num_ctx: 512 },
    });
    expect([answer.embeddings, answer.prompt_eval_count]).toEqual([vectors, tokens]);
    expect(answer.total_duration).toBeGreaterThan(0);
    expect((await client.embeddings({ model: "builtin", prompt: texts[0] })).embedding).toEqual(vectors[0]);
    expect((await client.list()).models[0]).toMatchObject({ name: "builtin", details: { format: expect.any(String) } });
    expect((await client.show({ model: "builtin" })).capabilities).toContain("embedding");
    expect((await client.ps()).models.map(({ name }) => name)).toContain("builtin");
    expect((await client.version()).version).toMatch(/^\d+\./);
    await expect(client.embed({ model: "nothing", input: "a" })).rejects.toThrow(/there is no model "nothing" here/);
    await expect(client.show({ model: "nothing" })).rejects.toThrow(/there is no model "nothing" here/);
  });

  it.each(["cohere-ai, npm", "ollama, npm"])("%s: runs the guide's example", async (heading) => {
    const [printed, said] = await guideExample(heading, { url: server.url, folder });
    expect(printed).toEqual(said);
  });
});

/** Runs a Python program of these lines; it finds the address in `url` and the texts in `texts`. */
function runIn(where: string, lines: readonly string[]): unknown {
  const head = ["import json, os", 'url = os.environ["URL"]', 'texts = json.loads(os.environ["INPUT"])'];
  return runPython(where, [...head, ...lines], { URL: server.url, INPUT: JSON.stringify(texts) });
}

const floats = (rows: unknown): number[][] => (rows as number[][]).map((row) => row.map(Math.fround));

const [skipLiteLlm, liteLlm] = onRequest("PyPI: litellm==1.106.2", "its installation takes most of a minute");
describe.skipIf(skipLiteLlm)(liteLlm, () => {
  const where = join(folder, "litellm");
  needsInstalled(() => {
    mkdirSync(where);
    return installPython(where, ["litellm==1.106.2"]);
  });

  it("embeds as Cohere's, Ollama's and Azure's", async () => {
    const { vectors } = await expected();
    const answer = runIn(where, [
      'os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"',
      "import litellm",
      'common = dict(input=texts, api_key="none")',
      "data = lambda answer: [one['embedding'] for one in answer.data]",
      "rows = dict()",
      'rows["ollama"] = data(litellm.embedding(model="ollama/builtin", api_base=url, **common))',
      'rows["cohere"] = data(litellm.embedding(model="cohere/builtin", api_base=url + "/v2/embed", input_type="search_document", **common))',
      'rows["azure"] = data(litellm.embedding(model="azure/builtin", api_base=url, api_version="2024-10-21", **common))',
      "print(json.dumps(rows))",
    ]) as Record<string, unknown>;
    for (const [client, rows] of Object.entries(answer)) expect([client, floats(rows)]).toEqual([client, vectors]);
    expect(Object.keys(answer)).toEqual(["ollama", "cohere", "azure"]);
  });

  it("ranks as Voyage's, Cohere's and Jina's, without saying which of them it is", async () => {
    const ranked = runIn(where, [
      'os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"',
      "import litellm",
      'request = dict(query="a pet", documents=["a car", "a cat purrs"], api_key="none")',
      'rank = lambda model, base: [one["index"] for one in litellm.rerank(model=model, api_base=base, **request).results]',
      'print(json.dumps([rank("voyage/builtin", url + "/v1/rerank"), rank("cohere/builtin", url + "/v2/rerank"), rank("jina_ai/builtin", url + "/v1/rerank")]))',
    ]);
    expect(ranked).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
  });
});

describe(`PyPI: ${pythonClients.join(", ")}`, () => {
  needsInstalled(() => installPython(folder, pythonClients));
  const run = (...lines: string[]): unknown => runIn(folder, lines);

  it("cohere embeds: floats in both versions, and the other types as numpy makes them of those", async () => {
    const { vectors, tokens } = await expected();
    const answer = run(
      "import base64, cohere, numpy",
      'first = cohere.Client(api_key="none", base_url=url).embed(model="builtin", texts=texts, input_type="search_document")',
      'second = cohere.ClientV2(api_key="none", base_url=url)',
      'typed = second.embed(model="builtin", texts=texts, input_type="search_query", embedding_types=["float", "int8", "uint8", "binary", "ubinary", "base64"]).embeddings',
      "given = numpy.array(typed.float_, dtype=numpy.float32)",
      "unit = given.astype(numpy.float64) / numpy.linalg.norm(given.astype(numpy.float64), axis=1, keepdims=True)",
      // quantize_embeddings of sentence-transformers: binary packs the bits and subtracts 128.
      "bits = numpy.packbits(given > 0, axis=1)",
      "checks = dict(",
      "    int8=bool((numpy.rint(unit * 127).astype(numpy.int8) == numpy.array(typed.int8)).all()),",
      "    uint8=bool((numpy.rint(unit * 127) + 128 == numpy.array(typed.uint8)).all()),",
      "    ubinary=bool((bits == numpy.array(typed.ubinary)).all()),",
      "    binary=bool(((bits.astype(int) - 128).astype(numpy.int8) == numpy.array(typed.binary)).all()),",
      '    base64=bool((numpy.stack([numpy.frombuffer(base64.b64decode(one), "<f4") for one in typed.base64]) == given).all()),',
      ")",
      'models = [model.name for model in cohere.Client(api_key="none", base_url=url).models.list(endpoint="embed").models]',
      "try:",
      '    second.embed(model="nothing", texts=texts, input_type="search_query")',
      "except cohere.NotFoundError as error:",
      '    code = error.body["code"]',
      "print(json.dumps(dict(first=first.embeddings, second=typed.float_, tokens=first.meta.billed_units.input_tokens, checks=checks, models=models, code=code)))",
    ) as Record<string, unknown>;
    expect(floats(answer["first"])).toEqual(vectors);
    expect(floats(answer["second"])).toEqual(vectors);
    expect(answer).toMatchObject({
      tokens,
      checks: { int8: true, uint8: true, ubinary: true, binary: true, base64: true },
      models: ["builtin"],
      code: "MODEL_NOT_FOUND",
    });
  });

  it("ollama embeds, describes models, and its errors are texts", async () => {
    const { vectors, tokens } = await expected();
    const answer = run(
      "import ollama",
      "client = ollama.Client(host=url)",
      'many = client.embed(model="builtin", input=texts, keep_alive="10m", options=ollama.Options(temperature=0, num_ctx=512))',
      'one = client.embeddings(model="builtin", prompt=texts[0])',
      "tags, ps = client.list(), client.ps()",
      'shown = client.show("builtin")',
      "try:",
      '    client.embed(model="nothing", input="a")',
      "except ollama.ResponseError as error:",
      "    failed = [error.error, error.status_code]",
      "print(json.dumps(dict(many=many.embeddings, one=one.embedding, count=many.prompt_eval_count, tags=tags.models[0].model, format=tags.models[0].details.format, ps=[m.model for m in ps.models], later=ps.models[0].expires_at.timestamp(), capabilities=shown.capabilities, failed=failed)))",
    ) as Record<string, unknown>;
    expect(floats(answer["many"])).toEqual(vectors);
    expect(floats([answer["one"]])).toEqual([vectors[0]]);
    expect(answer).toMatchObject({ count: tokens, tags: "builtin", format: "safetensors", ps: ["builtin"] });
    expect(Math.abs(Number(answer["later"]) - Date.now() / 1000 - 600)).toBeLessThan(60);
    expect(answer["capabilities"]).toContain("embedding");
    expect(answer["failed"]).toEqual([expect.stringMatching(/^there is no model "nothing" here/), 404]);
  });

  it("ollama, PyPI: runs the guide's example", async () => {
    const [printed, said] = await guideExample("ollama, PyPI", { url: server.url, folder, python: pythonOf(folder) });
    expect(printed).toEqual(said);
  });
});

const [skipLangChain, langChain] = onRequest("PyPI: langchain-ollama==1.1.0", "it imports a hundred modules of LangChain");
describe.skipIf(skipLangChain)(langChain, () => {
  const where = join(folder, "langchain");
  needsInstalled(() => {
    mkdirSync(where);
    return installPython(where, ["langchain-ollama==1.1.0"]);
  });

  it("LangChain's OllamaEmbeddings embeds", async () => {
    const { vectors } = await expected();
    const answer = runIn(where, [
      "from langchain_ollama import OllamaEmbeddings",
      'embedder = OllamaEmbeddings(model="builtin", base_url=url, validate_model_on_init=True)',
      "print(json.dumps([embedder.embed_documents(texts), [embedder.embed_query(text) for text in texts]]))",
    ]) as unknown[];
    expect(answer.map(floats)).toEqual([vectors, vectors]);
  });

  it("runs the guide's example", async () => {
    const [printed, said] = await guideExample("langchain-ollama, PyPI", {
      url: server.url,
      folder: where,
      python: pythonOf(where),
    });
    expect(printed).toEqual(said);
  });
});
