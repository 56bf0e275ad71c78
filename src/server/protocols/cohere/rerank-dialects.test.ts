/** The rerank routes as clients of Voyage, Mixedbread, NVIDIA, Infinity, vLLM and llama.cpp use them: fields, paths and responses. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type Handler, createHandler } from "../../handler.ts";

let runtime: Runtime;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime);
});
afterAll(() => runtime.dispose());

async function post(path: string, body: object): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const query = "a pet that purrs";
const documents = ["a car on the road", "a cat purrs", "a dog"];

describe("the fields of a request say which response it gets", () => {
  it("documents: results, on every path of Cohere, Jina, vLLM, Infinity and llama.cpp", async () => {
    const { results } = await runtime.rerank(query, documents);
    const scores = results.map(({ index, score }) => ({ index, relevance_score: score }));
    for (const path of ["/rerank", "/v1/rerank", "/v2/rerank", "/v1/reranking", "/reranking"]) {
      const { status, body } = await post(path, { model: "builtin", query, documents, return_documents: false });
      expect([path, status, body["results"]]).toEqual([path, 200, scores]);
      expect(body["data"]).toEqual(scores); // Voyage's clients, and litellm's of Voyage, which do not say that they are
    }
    // Infinity's clients read what the object is.
    expect(
      await Promise.all(["/rerank", "/v1/rerank"].map(async (path) => (await post(path, { query, documents })).body["object"])),
    ).toEqual(["rerank", "list"]);
    const { body } = await post("/rerank", { query, documents, top_n: 1, return_documents: true });
    expect(body["results"]).toMatchObject([{ index: 1, document: { text: "a cat purrs" } }]);
  });

  it("texts on /rerank: a list, as text-embeddings-inference", async () => {
    const { body } = await post("/rerank", { query, texts: documents });
    expect(body).toHaveLength(3);
    expect(body).toMatchObject([{ index: 1, score: expect.any(Number) }, {}, {}]);
    expect((await post("/rerank", { query })).body).toMatchObject({ error_type: "Validation" });
    // Gateways send both spellings, since servers ignore the one that is not theirs.
    expect((await post("/rerank", { query, texts: documents, documents })).body).toHaveLength(3);
  });

  it("truncation: data, as Voyage's clients read it", async () => {
    const { body } = await post("/v1/rerank", { query, documents, model: "builtin", top_k: 2, truncation: true });
    const { results } = await runtime.rerank(query, documents, { topN: 2 });
    expect(body).toMatchObject({
      object: "list",
      model: "builtin",
      data: results.map(({ index, score }) => ({ index, relevance_score: score })),
      usage: { total_tokens: expect.any(Number), prompt_tokens: expect.any(Number) },
    });
    const told = await post("/v1/rerank", { query, documents, top_k: 1, truncation: true, return_documents: true });
    expect(told.body["data"]).toMatchObject([{ index: 1, document: "a cat purrs" }]);
    const none = await post("/v1/rerank", { query, documents, top_k: null, truncation: true });
    expect(none.body["data"]).toHaveLength(3);
  });

  it("input: data with scores, as Mixedbread's clients read it", async () => {
    const { body } = await post("/v1/reranking", { query, input: documents, top_k: 2, return_input: true });
    expect(body).toMatchObject({
      object: "list",
      top_k: 2,
      return_input: true,
      data: [
        { object: "rank_result", index: 1, input: "a cat purrs", score: expect.any(Number) },
        { object: "rank_result", index: 2, input: "a dog" },
      ],
    });
    const fields = { query, input: [{ name: "a cat purrs" }, { name: "a car" }], rank_fields: ["name"] };
    expect((await post("/v1/reranking", fields)).body["data"]).toMatchObject([{ index: 0 }, { index: 1 }]);
  });

  it("passages on /v1/ranking: logits, as NVIDIA's clients read them", async () => {
    const passages = documents.map((text) => ({ text }));
    const { body } = await post("/v1/ranking", { model: "builtin", query: { text: query }, passages, truncate: "END" });
    const { results } = await runtime.rerank(query, documents);
    expect(body["rankings"]).toEqual(results.map(({ index, score }) => ({ index, logit: score })));
    const start = await post("/v1/ranking", { query: { text: query }, passages, truncate: "START" });
    expect(start).toMatchObject({ status: 400, body: { message: expect.stringContaining("START") } });
  });
});

describe("what has no meaning here is refused by name", () => {
  it.each([
    [{ query, documents, rewrite_query: true }, "rewrite_query"],
    [{ query, documents, return_embeddings: true }, "return_embeddings"],
    [{ query, documents, top_n: 1, top_k: 1 }, "top_k"],
    [{ query }, "documents"],
    [{ query, documents, input: documents }, "input"],
  ])("%j", async (request, field) => {
    const { status, body } = await post("/v1/rerank", request);
    expect(status).toBe(400);
    expect(body["message"]).toContain(field);
  });

  it("raw scores of a model that has none", async () => {
    expect((await post("/v1/rerank", { query, documents, raw_scores: true })).status).toBe(400);
  });
});
