/** The server's protocols on real models, against what the library gives; no socket. */
import { readFileSync } from "node:fs";
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, describe, expect, it } from "vitest";
import { hasSharedData, miniLmGoldens, needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const models = {
  minilm: `${sharedData}all-MiniLM-L6-v2`,
  scorer: `${sharedData}minilm-pair-scorer`,
  splade: `${sharedData}tiny-random-splade`,
  colbert: `${sharedData}tiny-random-colbert`,
  nli: `${sharedData}tiny-bert-nli-untrained`,
  ner: `${sharedData}minilm-l3-ner`,
};
const runtime = await createRuntime({ host: "inline", threads: 1 });
afterAll(() => runtime.dispose());
const handler: Handler = createHandler(runtime, hasSharedData ? { models } : {});

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

async function post<Body>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Body };
}

const query = "a pet that purrs";
const documents = ["a car on the road", "a cat purrs", "a dog"];

const [skip, title] = needsData("Cohere's rerank on a cross-encoder");
describe.skipIf(skip)(title, () => {
  it("gives scores between 0 and 1, in the order of the logits, and counts what was read", async () => {
    const { body } = await post<{
      results: { index: number; relevance_score: number }[];
      usage: { total_tokens: number };
    }>("/v2/rerank", { model: "scorer", query, documents });
    const raw = await runtime.rerank(query, documents, { model: models.scorer, raw: true });
    expect(body.results.map(({ index }) => index)).toEqual(raw.results.map(({ index }) => index));
    for (const [place, { relevance_score: score }] of body.results.entries())
      expect(score).toBeCloseTo(1 / (1 + Math.exp(-raw.results[place]!.score)), 6);
    expect(body.usage.total_tokens).toBe(raw.tokens.reduce((sum, count) => sum + count, 0));
  });
});

const [skipOpenAi, openAiTitle] = needsData("OpenAI's embeddings of MiniLM");
describe.skipIf(skipOpenAi)(openAiTitle, () => {
  const short = hasSharedData ? miniLmGoldens().filter(({ inputIds }) => inputIds.length < 200 && inputIds.length > 2) : [];

  it("are sentence-transformers' goldens, as texts and as the ids of their tokens", async () => {
    const known = short.filter(({ inputIds }) => !inputIds.includes(100)); // [UNK] stands for any text
    for (const input of [known.map(({ text }) => text), known.map(({ inputIds }) => inputIds)]) {
      const { status, body } = await post<{
        data: { embedding: string }[];
        usage: { total_tokens: number };
      }>("/v1/embeddings", { model: "minilm@onnx:cpu", input, encoding_format: "base64" });
      expect(status).toBe(200);
      expect(body.usage.total_tokens).toBe(known.reduce((sum, { inputIds }) => sum + inputIds.length, 0));
      for (const [index, { normalized }] of known.entries()) {
        const bytes = Buffer.from(body.data[index]!.embedding, "base64");
        const vector = Float32Array.from({ length: bytes.length / 4 }, (_value, place) => bytes.readFloatLE(4 * place));
        expect(worst(vector, normalized)).toBeLessThan(1e-5);
      }
    }
  });

  it("refuse a text that is too long, in OpenAI's words, and read it in windows where that is asked for", async () => {
    const input = "word ".repeat(400);
    expect(await post("/v1/embeddings", { model: "minilm", input })).toMatchObject({
      status: 400,
      body: { error: { code: "context_length_exceeded", type: "invalid_request_error", param: "input" } },
    });
    const { status } = await post("/v1/embeddings", { model: "minilm", input, truncate: "windows" });
    expect(status).toBe(200);
  });

  it("are refused of a model that has a vector for each token only", async () => {
    expect(await post("/v1/embeddings", { model: "colbert", input: "a" })).toMatchObject({
      status: 422,
      body: { error: { code: "model_unsupported", param: "model" } },
    });
  });
});

const [skipTei, teiTitle] = needsData("text-embeddings-inference's routes, each on a model made for it");
describe.skipIf(skipTei)(teiTitle, () => {
  it("/embed_all gives the vectors of tokens", async () => {
    const { embeddings, dimensions } = await runtime.embed("a dog", { model: models.minilm, pooling: "none" });
    const { body } = await post<number[][][]>("/embed_all", { inputs: "a dog" }, { "x-inferyard-model": "minilm" });
    expect(body[0]!.map((row) => row.length)).toEqual([dimensions, dimensions, dimensions, dimensions]);
    expect(body[0]!.flat()).toEqual([...embeddings[0]!]);
  });

  it("/embed_sparse gives weights by token, in the order of the vocabulary", async () => {
    const { embeddings } = await runtime.embedSparse("a dog", { model: models.splade });
    const { body } = await post<{ index: number; value: number }[][]>(
      "/embed_sparse",
      { inputs: "a dog" },
      { "x-inferyard-model": "splade" },
    );
    const weights = new Map(Array.from(embeddings[0]!.indices, (index, place) => [index, embeddings[0]!.values[place]!]));
    expect(new Map(body[0]!.map(({ index, value }) => [index, value]))).toEqual(weights);
    expect(body[0]!.map(({ index }) => index)).toEqual([...weights.keys()].toSorted((a, b) => a - b));
  });

  it("/predict judges texts and pairs, one or many, with scores or the model's own numbers", async () => {
    const header = { "x-inferyard-model": "nli" };
    const pair = { text: "a dog", pair: "an animal" };
    const { results } = await runtime.classify(["a dog", pair], { model: models.nli });
    expect((await post("/predict", { inputs: "a dog" }, header)).body).toEqual(results[0]);
    expect((await post("/predict", { inputs: ["a dog", "an animal"] }, header)).body).toEqual(results[1]);
    expect((await post("/predict", { inputs: [["a dog"], ["a dog", "an animal"]] }, header)).body).toEqual(results);
    const raw = await runtime.classify([pair], { model: models.nli, activation: "none" });
    expect((await post("/predict", { inputs: ["a dog", "an animal"], raw_scores: true }, header)).body).toEqual(raw.results[0]);
  });

  it("/rerank gives the model's own numbers where they are asked for", async () => {
    const { results } = await runtime.rerank(query, documents, { model: models.scorer, raw: true });
    const { body } = await post("/rerank", { query, texts: documents, raw_scores: true }, { "x-inferyard-model": "scorer" });
    expect(body).toEqual(results.map(({ index, score }) => ({ index, score })));
  });

  it("/tokenize frames texts as the model does", async () => {
    const golden = miniLmGoldens().find(({ inputIds }) => inputIds.length > 5);
    const { body } = await post<{ id: number; special: boolean; text: string; start?: number }[][]>(
      "/tokenize",
      { inputs: golden!.text },
      { "x-inferyard-model": "minilm" },
    );
    expect(body[0]!.map(({ id }) => id)).toEqual(golden!.inputIds);
    expect(body[0]![0]).toEqual({ id: 101, text: "[CLS]", special: true });
    for (const { text, start } of body[0]!.filter(({ special }) => !special))
      expect(Array.from(golden!.text).slice(start).join("").startsWith(text)).toBe(true);
  });

  it.each([
    ["minilm", { embedding: { pooling: "mean" } }],
    ["splade", { embedding: { pooling: "splade" } }],
    ["scorer", { reranker: { id2label: { 0: "LABEL_0" }, label2id: { LABEL_0: 0 } } }],
    ["nli", { classifier: { id2label: expect.any(Object), label2id: expect.any(Object) } }],
  ])("/info says what %s is", async (name, type) => {
    const response = await handler(new Request("http://localhost/info", { headers: { "x-inferyard-model": name } }));
    expect(await response.json()).toMatchObject({ model_id: name, model_type: type });
  });
});

const [skipNative, nativeTitle] = needsData("our own routes, each on a model made for it");
describe.skipIf(skipNative)(nativeTitle, () => {
  it("/api/embed refuses a model that has a vector for each token only, as JSON and as numbers", async () => {
    for (const accept of ["application/json", "application/octet-stream"])
      expect(await post("/api/embed", { model: "colbert", input: ["a", "b"] }, { accept })).toMatchObject({
        status: 422,
        body: { error: { code: "MODEL_UNSUPPORTED" } },
      });
  });

  it("/api/recognize gives names with their places in the unit asked for", async () => {
    const text = "😀 Angela Merkel lives in Berlin.";
    const { results } = await runtime.recognize(text, { model: models.ner });
    const asked = { model: "ner", texts: [text], offsets: "codepoints" };
    const { body } = await post<{ entities: { text: string; label: string; start: number; end: number }[][] }>(
      "/api/recognize",
      asked,
    );
    const [found] = body.entities;
    expect(found!.map(({ label }) => label)).toEqual(results[0]!.map(({ entityGroup }) => entityGroup));
    expect(found!.length).toBeGreaterThan(0);
    for (const { text: name, start, end } of found!) expect(Array.from(text).slice(start, end).join("")).toBe(name);
  });

  it("/api/classify gives the model's own labels, or judges those of the client", async () => {
    const own = await runtime.classify(["a dog"], { model: models.nli, topK: 2 });
    expect((await post("/api/classify", { model: "nli", texts: ["a dog"], top_k: 2 })).body).toEqual({
      model: "nli",
      classifications: own.results,
    });
    const options = { labels: ["pet", "car"], hypothesisTemplate: "It is a {}.", multiLabel: true };
    const zero = await runtime.classify(["a dog"], { model: models.nli, ...options });
    const asked = {
      model: "nli",
      texts: ["a dog"],
      labels: ["pet", "car"],
      hypothesis_template: "It is a {}.",
      multi_label: true,
    };
    expect((await post("/api/classify", asked)).body).toEqual({ model: "nli", classifications: zero.results });
  });

  it("/api/chunk gives vectors with the strategy late", async () => {
    const text = "One sentence. Another one.";
    const { results } = await runtime.chunk(text, { model: models.minilm, strategy: "late", targetTokens: 4 });
    const config = { model: "minilm", strategy: "late", target_tokens: 4 };
    const { body } = await post<{ chunks: { embedding: number[] }[] }>("/api/chunk", { input: text, config });
    expect(body.chunks.map(({ embedding }) => embedding)).toEqual(results[0]!.chunks.map(({ embedding }) => [...embedding!]));
  });

  it("/api/models says what each can be asked for", async () => {
    const response = await handler(new Request("http://localhost/api/models"));
    expect(await response.json()).toMatchObject({
      embedders: ["builtin", "minilm", "splade"],
      rerankers: ["builtin", "minilm", "scorer"],
      classifiers: ["scorer", "nli"],
      recognizers: ["ner"],
      extractors: ["ner"],
      generators: [],
      rewriters: [],
    });
  });
});

it("docs/reference/http.md lists the routes there are, in the words of the OpenAPI document", async () => {
  const response = await handler(new Request("http://localhost/openapi.json"));
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, { summary: string }>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => `| \`${method.toUpperCase()} ${path}\` | ${summary} |`),
  );
  const page = readFileSync(new URL("../../docs/reference/http.md", import.meta.url), "utf8");
  const listed = page.split("\n").filter((line) => /^\| `[A-Z]+ \//.test(line));
  expect(listed.toSorted()).toEqual(routes.toSorted());
});

const [skipOthers, othersTitle] = needsData("the routes of Cohere, Infinity and KServe's V1 protocol");
describe.skipIf(skipOthers)(othersTitle, () => {
  it("/v2/embed gives sentence-transformers' goldens", async () => {
    const golden = miniLmGoldens().filter(({ inputIds }) => inputIds.length < 200);
    const { body } = await post<{ embeddings: { float: number[][] }; meta: { billed_units: { input_tokens: number } } }>(
      "/v2/embed",
      {
        model: "minilm@onnx:cpu",
        texts: golden.map(({ text }) => text),
        input_type: "search_query",
      },
    );
    for (const [index, vector] of body.embeddings.float.entries())
      expect(worst(Float32Array.from(vector), golden[index]!.normalized)).toBeLessThan(1e-5);
    expect(body.meta.billed_units.input_tokens).toBe(golden.reduce((sum, { inputIds }) => sum + inputIds.length, 0));
  });

  it("/classify gives the library's labels, and logits when asked", async () => {
    const input = ["I love it", "I hate it"];
    for (const raw of [false, true]) {
      const { results, tokens } = await runtime.classify(input, { model: models.nli, ...(raw ? { activation: "none" } : {}) });
      const { body } = await post<Record<string, unknown>>("/classify", { model: "nli", input, raw_scores: raw });
      const total = tokens.reduce((sum, count) => sum + count, 0);
      expect(body).toMatchObject({
        object: "classify",
        data: results.map((list) => list.map(({ label, score }) => ({ label, score }))),
        usage: { prompt_tokens: total, total_tokens: total },
      });
    }
  });

  it(":predict scores pairs, and labels texts", async () => {
    const pairs = documents.map((document) => [query, document]);
    const { results } = await runtime.rerank(query, documents, { model: models.scorer });
    const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
    expect((await post("/v1/models/scorer:predict", { instances: pairs })).body).toEqual({ predictions: scores });
    const { results: labels } = await runtime.classify(documents, { model: models.nli });
    const best = labels.map(([first]) => ({ label: first!.label, score: first!.score }));
    expect((await post("/v1/models/nli:predict", { instances: documents })).body).toEqual({ predictions: best });
  });
});
