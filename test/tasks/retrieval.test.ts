/**
 * Models of retrieval as sentence-transformers 6, PyLate, ColBERT and FlagEmbedding write them, held against vectors and scores of these libraries
 * (test/tasks/fixtures/retrieval/make_fixtures.py made the folders and goldens.json).
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Runtime, type SparseEmbedding, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHandler } from "inferyard/server";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const fixtures = fileURLToPath(new URL("fixtures/retrieval/", import.meta.url));

interface MultiVectorGolden {
  readonly dimensions: number;
  readonly query: readonly (readonly number[])[];
  readonly document: readonly (readonly number[])[];
  readonly similarity: string;
  /** `[queries][documents]`. */
  readonly scores: readonly (readonly number[])[];
}

type Weights = Readonly<Record<string, number>>;

interface Goldens {
  readonly queries: readonly string[];
  readonly documents: readonly string[];
  readonly [model: string]: unknown;
  readonly "bge-m3": {
    readonly dense: readonly (readonly number[])[];
    readonly sparse: readonly Weights[];
    readonly multiVector: readonly (readonly number[])[];
    /** Of every query with every document, the documents first. */
    readonly scores: {
      readonly colbert: readonly number[];
      readonly dense: readonly number[];
      readonly sparse: readonly number[];
    };
  };
}

const goldens = JSON.parse(readFileSync(`${fixtures}goldens.json`, "utf8")) as Goldens;
const { queries, documents } = goldens;
const m3 = goldens["bge-m3"];

/** Copies a fixture, with the weights and the tokenizer that its folders share. */
function copyFixture(name: string, to: string): string {
  cpSync(`${fixtures}${name}`, to, { recursive: true });
  for (const file of readdirSync(to, { recursive: true, encoding: "utf8" })) {
    const folder = dirname(join(to, file));
    if (file.endsWith("tokenizer_config.json"))
      cpSync(`${sharedData}tiny-random-bert/tokenizer.json`, join(folder, "tokenizer.json"));
    const isEncoder = file.endsWith("config.json") && existsSync(join(folder, "tokenizer_config.json"));
    if (!isEncoder || !readFileSync(join(to, file), "utf8").includes('"architectures"')) continue;
    const isMasked = readFileSync(join(to, file), "utf8").includes("BertForMaskedLM");
    const hasWeights = ["model.safetensors", "model.onnx"].some((weights) => existsSync(join(folder, weights)));
    if (!hasWeights) cpSync(`${fixtures}${isMasked ? "masked" : "bert"}.safetensors`, join(folder, "model.safetensors"));
  }
  return to;
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(actual).toHaveLength(expected.length);
  for (let index = 0; index < expected.length; index += 1) expect(actual[index]).toBeCloseTo(expected[index]!, 5);
}

function expectSparse({ indices, values }: SparseEmbedding, expected: Weights): void {
  const found = Object.fromEntries(Array.from(indices, (id, index) => [id, values[index]!]));
  // Where the reference's weight is near 0, rounding decides whether there is one.
  for (const id of new Set([...Object.keys(found), ...Object.keys(expected)]))
    expect(found[id] ?? 0, `the weight of token ${id}`).toBeCloseTo(expected[id] ?? 0, 4);
  expect([...values]).toEqual([...values].sort((a, b) => b - a));
}

const [skip, title] = needsData("models of retrieval");
describe.skipIf(skip)(title, () => {
  const root = mkdtempSync(join(tmpdir(), "inferyard-retrieval-"));
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
  afterAll(async () => {
    await runtime.dispose();
    rmSync(root, { recursive: true });
  });
  let copies = 0;
  const fixture = (name: string): string => copyFixture(name, join(root, `${name}-${(copies += 1)}`));

  describe.each(["multi-vector", "multi-vector-options", "pylate", "stanford-colbert"])("%s", (name) => {
    const golden = goldens[name] as MultiVectorGolden;
    const isMean = golden.similarity === "meanmaxsim";

    it("gives the token vectors of MultiVectorEncoder for queries and documents", async () => {
      const model = fixture(name);
      const asked = await runtime.embed(queries, { model, prompt: "query" });
      const given = await runtime.embed(documents, { model });
      expect([asked.pooling, asked.dimensions, given.dimensions]).toEqual(["none", golden.dimensions, golden.dimensions]);
      for (const [index, vectors] of golden.query.entries()) expectClose(asked.embeddings[index]!, vectors);
      for (const [index, vectors] of golden.document.entries()) expectClose(given.embeddings[index]!, vectors);
    });

    it("reranks with its scores", async () => {
      const model = fixture(name);
      for (const [index, query] of queries.entries()) {
        const { results, scoring } = await runtime.rerank(query, documents, { model });
        expect(scoring).toBe(isMean ? "meanmaxsim" : "maxsim");
        for (const { index: document, score } of results) expect(score).toBeCloseTo(golden.scores[index]![document]!, 4);
        expect(results.map(({ score }) => score)).toEqual(results.map(({ score }) => score).sort((a, b) => b - a));
      }
      await expect(runtime.rerank("a", ["b"], { model, raw: true })).rejects.toMatchObject({ code: "INPUT_INVALID" });
      await expect(runtime.similarity("a", "b", { model })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    });
  });

  it.each(["splade", "splade-sum", "csr", "csr-normalized"])("%s gives the weights of SparseEncoder", async (name) => {
    const golden = goldens[name] as { readonly document: readonly Weights[]; readonly dimensions: number };
    const { embeddings, dimensions } = await runtime.embedSparse([...queries, ...documents], { model: fixture(name) });
    expect(dimensions).toBe(golden.dimensions);
    for (const [index, weights] of golden.document.entries()) expectSparse(embeddings[index]!, weights);
  });

  it("a Router weighs the tokens of queries without the network", async () => {
    const golden = goldens["inference-free"] as { readonly query: readonly Weights[]; readonly document: readonly Weights[] };
    const model = fixture("inference-free");
    const texts = [...queries, ...documents];
    for (const [prompt, expected] of [
      ["query", golden.query],
      ["document", golden.document],
      [undefined, golden.document],
    ] as const) {
      const { embeddings } = await runtime.embedSparse(texts, { model, ...(prompt === undefined ? {} : { prompt }) });
      for (const [index, weights] of expected.entries()) expectSparse(embeddings[index]!, weights);
    }
    await expect(runtime.embedSparse("a", { model, prompt: "passage" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  describe.each(["bge-m3", "bge-m3-onnx", "bge-m3-onnx-raw"])("%s", (name) => {
    const texts = [...queries, ...documents];

    it("gives all three forms of M3Embedder from one run of the encoder", async () => {
      const model = fixture(name);
      const batches: number[] = [];
      const counted = await createRuntime({ host: "inline", threads: 1, onBatch: ({ rows }) => batches.push(rows) });
      const result = await counted.embed(texts, { model, outputs: ["dense", "sparse", "multi-vector"] });
      await counted.dispose();
      expect(batches.reduce((sum, rows) => sum + rows, 0)).toBe(texts.length);
      expect(result.dimensions).toEqual({ dense: 16, sparse: 400, multiVector: 16 });
      for (const [index, vector] of m3.dense.entries()) expectClose(result.dense![index]!, vector);
      for (const [index, weights] of m3.sparse.entries()) expectSparse(result.sparse![index]!, weights);
      for (const [index, vectors] of m3.multiVector.entries()) expectClose(result.multiVector![index]!, vectors);
      const one = await runtime.embed(texts, { model, outputs: ["sparse"] });
      expect([one.dense, one.multiVector, one.sparse?.length]).toEqual([undefined, undefined, texts.length]);
    });

    it("embed gives the dense vectors, embedSparse the weights, rerank the scores of the token vectors", async () => {
      const model = fixture(name);
      const { embeddings } = await runtime.embed(texts, { model });
      for (const [index, vector] of m3.dense.entries()) expectClose(embeddings[index]!, vector);
      const sparse = await runtime.embedSparse(texts, { model, topK: 2 });
      for (const { indices } of sparse.embeddings) expect(indices.length).toBeLessThanOrEqual(2);
      for (const [index, query] of queries.entries()) {
        const { results, scoring } = await runtime.rerank(query, documents, { model });
        expect(scoring).toBe("meanmaxsim");
        for (const { index: document, score } of results)
          expect(score).toBeCloseTo(m3.scores.colbert[index * documents.length + document]!, 4);
      }
    });
  });

  it("heads in .pt files are refused with what converts them; the dense vector needs none", async () => {
    const model = fixture("bge-m3");
    for (const head of ["sparse_linear", "colbert_linear"]) {
      rmSync(join(model, `${head}.safetensors`));
      writeFileSync(join(model, `${head}.pt`), "PK");
    }
    await expect(runtime.embed("a", { model, outputs: ["dense", "sparse"] })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringMatching(/sparse_linear\.safetensors, which is not there; \.pt files are not read/) as string,
      remedy: expect.stringContaining("save_file") as string,
    });
    await expect(runtime.embedSparse("a", { model })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expectClose((await runtime.embed(queries[0]!, { model })).embeddings[0]!, m3.dense[0]!);
    expect((await runtime.rerank("a", ["b"], { model })).scoring).toBe("cosine");
  });

  it("outputs that the model does not give, and options that do not go with them, are refused", async () => {
    const splade = fixture("splade");
    await expect(runtime.embed("a", { model: splade, outputs: ["sparse", "dense"] })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringMatching(/gives sparse embeddings, not dense/) as string,
    });
    const late = fixture("multi-vector");
    const { multiVector } = await runtime.embed(documents, { model: late, outputs: ["multi-vector"] });
    expectClose(multiVector![0]!, (goldens["multi-vector"] as MultiVectorGolden).document[0]!);
    const { dense, sparse } = await runtime.embed(queries, { model: fixture("csr"), outputs: ["sparse", "dense"] });
    expect(dense![0]).toHaveLength(16);
    expectSparse(sparse![0]!, (goldens["csr"] as { document: Weights[] }).document[0]!);
    for (const options of [
      { outputs: [] },
      { outputs: ["all"] },
      { outputs: ["dense", "dense"] },
      { outputs: ["dense"], pooling: "cls" },
    ])
      await expect(runtime.embed("a", { model: late, ...(options as { outputs: ["dense"] }) })).rejects.toMatchObject({
        code: "INPUT_INVALID",
      });
  });

  it("the command line prints the forms, and reranks", async () => {
    const model = fixture("bge-m3");
    const flags = ["embed", ...queries, "--model", model, "--outputs", "dense,sparse,multi-vector"];
    const result = JSON.parse((await inferyard([...flags, "--json"])).stdout) as {
      dense: number[][];
      sparse: { indices: number[]; values: number[] }[];
      multiVector: number[][][];
    };
    expectClose(result.dense[0]!, m3.dense[0]!);
    expectClose(result.multiVector[1]!.flat(), m3.multiVector[1]!);
    expectSparse(
      { indices: Uint32Array.from(result.sparse[0]!.indices), values: Float32Array.from(result.sparse[0]!.values) },
      m3.sparse[0]!,
    );
    const { stdout, stderr } = await inferyard(flags);
    expect(stdout).toMatch(
      /dense 16 · sparse 400 · multi-vector 16 · native:cpu\n.*What is the capital of France\? +\[.*7 weights +8 vectors/,
    );
    expect(stderr).toContain("2 texts in");
    expect((await inferyard([...flags, "--sparse"])).stderr).toContain("--sparse has no effect with --outputs");
    expect((await inferyard([...flags, "--pooling", "cls"])).stderr).toContain("pooling cannot be combined with outputs");
    const ranked = JSON.parse(
      (await inferyard(["rerank", "--model", model, "--query", queries[0]!, ...documents, "--json"])).stdout,
    ) as {
      scoring: string;
      results: { index: number; score: number }[];
    };
    expect(ranked.scoring).toBe("meanmaxsim");
    for (const { index, score } of ranked.results) expect(score).toBeCloseTo(m3.scores.colbert[index]!, 4);
  });

  it("the server gives the forms and the scores", async () => {
    const models = { m3: fixture("bge-m3"), late: fixture("multi-vector"), queries: fixture("inference-free") };
    const handler = createHandler(runtime, { models });
    const post = async (path: string, body: object): Promise<{ status: number; body: unknown }> => {
      const headers = { "content-type": "application/json", "x-inferyard-model": "queries" };
      const response = await handler(
        new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
      );
      return { status: response.status, body: await response.json() };
    };
    const outputs = ["dense", "sparse", "multi-vector"];
    const answer = await post("/api/embed/outputs", { model: "m3", input: queries, outputs });
    const found = answer.body as {
      dimensions: object;
      dense: number[][];
      sparse: { indices: number[] }[];
      multi_vector: number[][][];
    };
    expect([answer.status, found.dimensions]).toEqual([200, { dense: 16, sparse: 400, multi_vector: 16 }]);
    expectClose(found.dense[0]!, m3.dense[0]!);
    expectClose(found.multi_vector[0]!.flat(), m3.multiVector[0]!);
    expect(found.sparse[1]!.indices).toEqual([27]);
    const ranked = (await post("/api/rerank", { model: "m3", query: queries[0], prompts: documents })).body;
    expect(ranked).toMatchObject({ scoring: "meanmaxsim" });
    expectClose((ranked as { scores: number[] }).scores, m3.scores.colbert.slice(0, documents.length));
    const late = await post("/v2/rerank", { model: "late", query: queries[0], documents });
    expect(late.status).toBe(200);
    expect(await post("/api/embed/outputs", { model: "late", input: "a", outputs: ["dense"] })).toMatchObject({ status: 422 });
    expect(await post("/api/embed/outputs", { model: "m3", input: "a", outputs: [] })).toMatchObject({ status: 400 });
    const weights = (await post("/embed_sparse", { inputs: queries[0], prompt_name: "query" })).body as {
      index: number;
      value: number;
    }[][];
    const golden = goldens["inference-free"] as { readonly query: readonly Weights[] };
    expect(weights[0]!.map(({ index }) => String(index))).toEqual(Object.keys(golden.query[0]!));
  });

  describe("folders that are not whole or not computed", () => {
    const edit = (model: string, file: string, change: (content: string) => string): void =>
      writeFileSync(join(model, file), change(readFileSync(join(model, file), "utf8")));

    it.each<[string, string, (model: string) => void, string, RegExp]>([
      [
        "no weights of a module",
        "multi-vector",
        (m) => rmSync(join(m, "1_Dense/model.safetensors")),
        "MODEL_INVALID",
        /1_Dense\/model\.safetensors is missing/,
      ],
      [
        "another shape than stated",
        "multi-vector",
        (m) => edit(m, "1_Dense/config.json", (s) => s.replace('"out_features": 8', '"out_features": 9')),
        "MODEL_INVALID",
        /1_Dense\/model\.safetensors .*linear\.weight is \[8, 16\], and \[9, 16\]/,
      ],
      [
        "no mask configuration",
        "multi-vector",
        (m) => rmSync(join(m, "2_MultiVectorMask/config.json")),
        "MODEL_INVALID",
        /2_MultiVectorMask\/config\.json is missing/,
      ],
      [
        "images' tokens only",
        "multi-vector",
        (m) =>
          edit(m, "2_MultiVectorMask/config.json", (s) => s.replace('"keep_only_token_ids": null', '"keep_only_token_ids": [3]')),
        "MODEL_UNSUPPORTED",
        /keep_only_token_ids/,
      ],
      [
        "an unknown strategy",
        "multi-vector",
        (m) => edit(m, "sentence_bert_config.json", (s) => s.replace('"fixed"', '"other"')),
        "MODEL_INVALID",
        /sentence_bert_config\.json .*query_expansion/,
      ],
      [
        "an unknown module",
        "multi-vector",
        (m) => edit(m, "modules.json", (s) => s.replaceAll("MultiVectorMask", "HierarchicalPooling")),
        "MODEL_UNSUPPORTED",
        /module (HierarchicalPooling|Dense)/,
      ],
      [
        "a vector of the text",
        "multi-vector",
        (m) => edit(m, "1_Dense/config.json", (s) => s.replaceAll("token_embeddings", "sentence_embedding")),
        "MODEL_UNSUPPORTED",
        /1_Dense\/config\.json works on "sentence_embedding"/,
      ],
      [
        "no settings of SpladePooling",
        "splade",
        (m) => rmSync(join(m, "1_SpladePooling/config.json")),
        "MODEL_INVALID",
        /1_SpladePooling\/config\.json is missing/,
      ],
      [
        "another pooling",
        "splade",
        (m) => edit(m, "1_SpladePooling/config.json", (s) => s.replace('"max"', '"mean"')),
        "MODEL_UNSUPPORTED",
        /pooling_strategy "mean"/,
      ],
      [
        "SpladePooling on an encoder",
        "splade",
        (m) => edit(m, "sentence_bert_config.json", (s) => s.replace("fill-mask", "feature-extraction")),
        "MODEL_UNSUPPORTED",
        /sentence_bert_config\.json/,
      ],
      [
        "an autoencoder of another size",
        "csr",
        (m) => edit(m, "2_SparseAutoEncoder/config.json", (s) => s.replace("48", "47")),
        "MODEL_INVALID",
        /2_SparseAutoEncoder\/model\.safetensors .*latent_bias/,
      ],
      [
        "no router",
        "inference-free",
        (m) => rmSync(join(m, "router_config.json")),
        "MODEL_INVALID",
        /router_config\.json is missing/,
      ],
      [
        "other routes",
        "inference-free",
        (m) => edit(m, "router_config.json", (s) => s.replace('"query": [', '"image": [], "query": [')),
        "MODEL_UNSUPPORTED",
        /the route "image"/,
      ],
      [
        "no weights of tokens",
        "inference-free",
        (m) => rmSync(join(m, "query_0_SparseStaticEmbedding/model.safetensors")),
        "MODEL_INVALID",
        /query_0_SparseStaticEmbedding\/model\.safetensors is missing/,
      ],
      [
        "heads cut off",
        "bge-m3",
        (m) =>
          writeFileSync(
            join(m, "colbert_linear.safetensors"),
            readFileSync(join(m, "colbert_linear.safetensors")).subarray(0, 90),
          ),
        "MODEL_INVALID",
        /colbert_linear\.safetensors/,
      ],
      [
        "a head of another shape",
        "bge-m3",
        (m) => cpSync(join(m, "colbert_linear.safetensors"), join(m, "sparse_linear.safetensors")),
        "MODEL_INVALID",
        /sparse_linear\.safetensors .*weight is \[16, 16\], and \[1, inputs\]/,
      ],
    ])("%s", async (_title, name, damage, code, message) => {
      const model = fixture(name);
      damage(model);
      await expect(runtime.load(model)).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    });

    it("late interaction stated without the modules is refused, not answered with vectors of the encoder", async () => {
      const model = fixture("pylate");
      rmSync(join(model, "modules.json"));
      await expect(runtime.rerank("a", ["b"], { model })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    });
  });
});
