import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { HandlerOptions } from "../../handler.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

interface Answer {
  readonly status: number;
  readonly body: {
    readonly results: readonly { readonly index: number; readonly relevance_score: number; readonly document?: object }[];
    readonly usage: { readonly total_tokens: number };
    readonly message: string;
  };
}

async function ask(path: string, body: unknown, options: HandlerOptions = {}): Promise<Answer> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await handlerOf(runtime, options)(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const query = "a pet that purrs";
const documents = ["a car on the road", "a cat purrs", "a dog"];

describe("POST /v1/rerank and /v2/rerank", () => {
  it("give the library's order and scores, and what was read of query and documents", async () => {
    const { results } = await runtime.rerank(query, documents);
    const handle = await runtime.load("builtin");
    const tokenizer = await runtime.tokenizer(handle);
    const total = [query, ...documents].reduce((sum, text) => sum + tokenizer.encode(text).ids.length, 0);
    await handle.dispose();
    for (const version of ["1", "2"]) {
      const { status, body } = await ask(`/v${version}/rerank`, { model: "builtin", query, documents, return_documents: false });
      expect(status).toBe(200);
      expect(body).toEqual({
        id: expect.any(String),
        model: "builtin",
        object: "list",
        results: results.map(({ index, score }) => ({ index, relevance_score: score })),
        data: results.map(({ index, score }) => ({ index, relevance_score: score })),
        meta: { api_version: { version }, tokens: { input_tokens: total, output_tokens: 0 } },
        usage: { total_tokens: total, prompt_tokens: total },
      });
    }
  });

  it("carry the documents: version 1 as Jina unless told not to, version 2 when told to", async () => {
    const first = await ask("/v1/rerank", { query, documents, top_n: 1 });
    expect(first.body.results).toMatchObject([{ index: 1, document: { text: "a cat purrs" } }]);
    const second = await ask("/v2/rerank", { query, documents, top_n: 2 });
    expect(second.body.results.map((result) => "document" in result)).toEqual([false, false]);
    const asked = await ask("/v2/rerank", { query, documents, top_n: 1, return_documents: true });
    expect(asked.body.results).toMatchObject([{ document: { text: "a cat purrs" } }]);
  });

  it("read objects: their text, or the fields that are named", async () => {
    const objects = documents.map((text, id) => ({ text, id }));
    const plain = await ask("/v2/rerank", { query, documents });
    expect((await ask("/v2/rerank", { query, documents: objects })).body.results).toEqual(plain.body.results);
    const fields = [
      { title: "Cat", body: "purrs" },
      { title: "Car", body: "rolls" },
    ];
    const named = await ask("/v1/rerank", { query, documents: fields, rank_fields: ["title", "body"] });
    expect(named.body.results[0]).toMatchObject({ index: 0, document: { title: "Cat", text: "title: Cat\nbody: purrs" } });
    const direct = await runtime.rerank(query, ["title: Cat\nbody: purrs"]);
    expect(named.body.results[0]!.relevance_score).toBe(direct.results[0]!.score);
  });

  it("cut documents to so many tokens where that is asked for", async () => {
    const cut = await ask("/v2/rerank", { query, documents: ["a cat and a car and a road"], max_tokens_per_doc: 2 });
    const whole = await ask("/v2/rerank", { query, documents: ["a cat"] });
    expect(cut.body.results).toEqual(whole.body.results);
    expect(cut.body.usage).toEqual(whole.body.usage);
  });

  it.each([
    ["no documents", { query, documents: [] }, /documents/],
    ["no query", { documents }, /query/],
    ["a document without text", { query, documents: [{ image: "x" }] }, /document 0 has no text in its field "text"/],
    ["a field no document has", { query, documents: [{ text: "a" }], rank_fields: ["toString"] }, /"toString"/],
    ["top_n of none", { query, documents, top_n: 0 }, /top_n/],
  ])("refuse %s with 400, in Cohere's words and in Jina's", async (_what, body, message) => {
    const answer = await ask("/v2/rerank", body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INPUT_INVALID", retryable: false, id: expect.any(String) } });
    expect(answer.body.message).toMatch(message);
    expect(answer.body).toMatchObject({ detail: answer.body.message });
  });

  it("tell what fails before a route is reached in the same words", async () => {
    const large = await ask("/v2/rerank", { query: "a".repeat(300), documents }, { maxBodyBytes: 200 });
    expect(large).toMatchObject({ status: 413, body: { code: "LIMIT_EXCEEDED", message: expect.any(String) } });
  });
});
