import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type HandlerOptions, createHandler } from "../../handler.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

async function ask(path: string, body?: unknown, options: HandlerOptions = {}): Promise<{ status: number; body: unknown }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await handlerOf(runtime, options)(new Request(`http://localhost${path}`, body === undefined ? {} : init));
  return { status: response.status, body: await response.json() };
}

const texts = ["a cat", "a dog sleeps"];
const long = "word ".repeat(600);

describe("POST /embed", () => {
  it("gives the library's vectors: a text, a list, tokens", async () => {
    const { embeddings } = await runtime.embed(texts, { normalize: true });
    const rows = embeddings.map((vector) => [...vector]);
    expect((await ask("/embed", { inputs: texts })).body).toEqual(rows);
    expect((await ask("/embed", { inputs: texts[1], truncate: null, prompt_name: null, dimensions: null })).body).toEqual([
      rows[1],
    ]);
    const ids = ((await ask("/tokenize", { inputs: texts })).body as { id: number }[][]).map((list) => list.map(({ id }) => id));
    expect((await ask("/embed", { inputs: ids })).body).toEqual(rows);
    expect((await ask("/embed", { inputs: ids[0] })).body).toEqual([rows[0]]);
  });

  it("scales vectors unless told not to, and gives fewer dimensions where asked", async () => {
    const raw = await runtime.embed("a cat", { normalize: false, dimensions: 3 });
    expect((await ask("/embed", { inputs: "a cat", normalize: false, dimensions: 3 })).body).toEqual([[...raw.embeddings[0]!]]);
  });

  it("cuts a text that is too long unless the request or the setting longTexts says otherwise", async () => {
    expect(await ask("/embed", { inputs: long, truncate: false })).toMatchObject({ status: 413 });
    expect(await ask("/embed", { inputs: long }, { longTexts: "error" })).toMatchObject({
      status: 413,
      body: { error_type: "Validation", code: "INPUT_TOO_LONG", error: expect.stringContaining("512") },
    });
    const { embeddings } = await runtime.embed(long, { normalize: true });
    const cut = await ask("/embed", { inputs: long, truncate: true, truncation_direction: "Right" }, { longTexts: "error" });
    expect(cut.body).toEqual([[...embeddings[0]!]]);
    expect((await ask("/embed", { inputs: long })).body).toEqual(cut.body);
    expect(await ask("/embed", { inputs: long, truncation_direction: "Left" })).toMatchObject({ status: 422 });
    expect(await ask("/embed", { inputs: long, truncate: true, truncation_direction: "Left" })).toMatchObject({ status: 422 });
  });
});

describe("the other routes of an embedding model", () => {
  it("/similarity gives cosines in the order of the sentences", async () => {
    const { scores } = await runtime.similarity("a cat", texts, { metric: "cosine" });
    const asked = { inputs: { source_sentence: "a cat", sentences: texts }, parameters: { truncate: true } };
    expect((await ask("/similarity", asked)).body).toEqual([...scores[0]!]);
  });

  it("/rerank gives indices and scores, with the texts where asked", async () => {
    const { results } = await runtime.rerank("a pet", texts);
    const plain = results.map(({ index, score }) => ({ index, score }));
    expect((await ask("/rerank", { query: "a pet", texts })).body).toEqual(plain);
    expect((await ask("/rerank", { query: "a pet", texts, return_text: true })).body).toEqual(results);
  });

  it("/tokenize counts code points, and /decode writes back", async () => {
    const { body } = await ask("/tokenize", { inputs: "😀 cats", add_special_tokens: false });
    expect((body as object[][])[0]!.at(-1)).toEqual({ id: expect.any(Number), text: "cats", special: false, start: 2, stop: 6 });
    const ids = ((await ask("/tokenize", { inputs: "two cats" })).body as { id: number }[][])[0]!.map(({ id }) => id);
    expect((await ask("/decode", { ids })).body).toEqual(["two cats"]);
    expect((await ask("/decode", { ids: [ids, ids] })).body).toEqual(["two cats", "two cats"]);
  });

  it("/info says what the model is and what the limits are", async () => {
    expect((await ask("/info", undefined, { maxTexts: 7, maxConcurrentRequests: 3 })).body).toEqual({
      model_id: "builtin",
      served_model_name: "builtin",
      model_dtype: "int4",
      model_type: { embedding: { pooling: "mean" } },
      max_concurrent_requests: 3,
      max_input_length: 512,
      max_batch_tokens: 512,
      max_client_batch_size: 7,
      auto_truncate: true,
      tokenization_workers: 1,
      version: expect.any(String),
    });
  });
});

it.each([
  ["/embed", { inputs: [] }, 400, "Empty"],
  ["/embed", { inputs: [[]] }, 400, "Empty"],
  ["/rerank", { query: "a", texts: [] }, 400, "Empty"],
  ["/predict", { inputs: [] }, 400, "Empty"],
  ["/similarity", { inputs: { source_sentence: "a", sentences: [] } }, 400, "Empty"],
  ["/tokenize", { inputs: [] }, 400, "Empty"],
  ["/decode", { ids: [] }, 400, "Empty"],
  ["/embed", { inputs: 3 }, 422, "Validation"],
  ["/embed", {}, 422, "Validation"],
  ["/embed", { inputs: [99_999_999] }, 422, "Validation"],
  ["/embed", { inputs: "a", prompt_name: "query" }, 422, "Validation"],
  ["/embed_all", { inputs: "a" }, 424, "Backend"],
  ["/embed_sparse", { inputs: "a" }, 424, "Backend"],
  ["/predict", { inputs: "a" }, 424, "Backend"],
  ["/embed", { inputs: ["a", "b", "c"] }, 413, "Validation"],
])("%s with %j answers %d %s", async (path, body, status, kind) => {
  expect(await ask(path, body, { maxTexts: 2 })).toMatchObject({
    status,
    body: { error: expect.any(String), error_type: kind, code: expect.any(String), retryable: false },
  });
});

it("what fails before a route is reached is told in TEI's words", async () => {
  const large = await ask("/embed", { inputs: "a".repeat(300) }, { maxBodyBytes: 200 });
  expect(large).toMatchObject({ status: 413, body: { error_type: "Validation", code: "LIMIT_EXCEEDED" } });
});

describe("POST / and /invocations", () => {
  it.each(["/", "/invocations"])("%s embeds with an embedding model, in every form that clients send", async (path) => {
    const { embeddings } = await runtime.embed(texts, { normalize: true });
    const rows = embeddings.map((vector) => [...vector]);
    for (const more of [{}, { parameters: {} }, { parameters: null, options: { wait_for_model: true } }, { truncate: true }])
      expect((await ask(path, { inputs: texts, ...more })).body).toEqual(rows);
    const raw = await runtime.embed("a cat", { normalize: false, dimensions: 3 });
    const asked = { inputs: "a cat", parameters: { normalize: false, dimensions: 3 } };
    expect((await ask(path, asked)).body).toEqual([[...raw.embeddings[0]!]]);
  });

  it("ranks where there are a query and texts", async () => {
    const { results } = await runtime.rerank("a pet", texts);
    expect((await ask("/", { query: "a pet", texts })).body).toEqual(results.map(({ index, score }) => ({ index, score })));
  });

  it.each([
    [{}, "inputs"],
    [[1], "must be an object"],
  ])("refuses %j by name", async (body, name) => {
    expect(await ask("/", body)).toMatchObject({ status: 422, body: { error: expect.stringContaining(name) } });
  });

  it("answers OpenAI's requests at /embeddings, and Hugging Face's empty members at /embed", async () => {
    const { embeddings } = await runtime.embed("a cat");
    const answer = await ask("/embeddings", { input: "a cat" });
    expect(answer.body).toMatchObject({ data: [{ embedding: [...embeddings[0]!] }] });
    expect((await ask("/embed", { inputs: "a cat", parameters: {}, options: {} })).status).toBe(200);
  });

  it("is told from GET /, which answers balancers and sends browsers to the dashboard", async () => {
    const handler = createHandler(runtime, { keys: [] });
    const get = (path: string, accept: string, method = "GET"): Promise<Response> =>
      handler(new Request(`http://localhost${path}`, { method, headers: { accept } }));
    for (const accepted of ["*/*", "application/json, text/plain, */*"])
      expect(await (await get("/", accepted)).text()).toBe("Ollama is running");
    expect(await (await get("/", "application/json")).json()).toEqual({ status: "alive" });
    expect([(await get("/ping", "*/*")).status, (await get("/", "*/*", "HEAD")).status]).toEqual([200, 200]);
    const page = await get("/", "text/html,application/xhtml+xml");
    expect([page.status, page.headers.get("location")]).toEqual([302, "/dashboard"]);
  });
});
