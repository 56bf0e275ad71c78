import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type HandlerOptions, createHandler } from "../../handler.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

/** What the answers of these routes have between them. */
interface Body<Embedding = number[]> {
  readonly data: readonly { readonly id: string; readonly embedding: Embedding }[];
  readonly error: { readonly message: string };
}

async function ask<Embedding = number[]>(
  path: string,
  body?: unknown,
  options: HandlerOptions = {},
): Promise<{ status: number; body: Body<Embedding> }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await handlerOf(runtime, options)(new Request(`http://localhost${path}`, body === undefined ? {} : init));
  return { status: response.status, body: (await response.json()) as Body<Embedding> };
}

describe("POST /v1/embeddings", () => {
  const texts = ["a cat", "a dog sleeps"];

  it("gives the library's vectors and what the model read, as numbers and as base64", async () => {
    const { embeddings, tokens } = await runtime.embed(texts);
    const total = tokens[0]! + tokens[1]!;
    const numbers = await ask("/v1/embeddings", { model: "builtin", input: texts, user: "someone" });
    expect(numbers.body).toEqual({
      object: "list",
      model: "builtin",
      data: embeddings.map((vector, index) => ({ object: "embedding", index, embedding: [...vector] })),
      usage: { prompt_tokens: total, total_tokens: total },
    });
    const coded = await ask<string>("/v1/embeddings", { model: "builtin", input: texts, encoding_format: "base64" });
    const floats = coded.body.data.map(({ embedding }) => {
      const bytes = Buffer.from(embedding, "base64");
      return Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(4 * index));
    });
    expect(floats).toEqual(embeddings.map((vector) => [...vector]));
  });

  it("gives fewer dimensions where that is asked for, and takes null for what is left out", async () => {
    const { body } = await ask("/v1/embeddings", {
      model: null,
      input: "a cat",
      dimensions: 4,
      encoding_format: null,
      user: null,
    });
    const { embeddings } = await runtime.embed("a cat", { dimensions: 4 });
    expect(body.data[0]!.embedding).toEqual([...embeddings[0]!]);
  });

  it("refuses token ids that no special tokens frame, and says which setting takes them", async () => {
    const { status, body } = await ask("/v1/embeddings", { input: [4937] }); // "cat" here, and something else in cl100k
    expect([status, body.error]).toMatchObject([400, { code: "input_invalid", param: "input" }]);
    expect(body.error.message).toMatch(
      /check_embedding_ctx_length=False; or the server's setting tokenIds .* cl100k, o200k or own/,
    );
  });

  it("reads tokens of the model's own tokenizer where tokenIds is own, one text or a list", async () => {
    const handle = await runtime.load("builtin");
    const tokenizer = await runtime.tokenizer(handle);
    const ids = texts.map((text) => tokenizer.encode(text, { addSpecialTokens: false }).ids);
    await handle.dispose();
    const { embeddings } = await runtime.embed(texts);
    const many = await ask("/v1/embeddings", { input: ids }, { tokenIds: "own" });
    expect(many.body.data.map(({ embedding }) => embedding)).toEqual(embeddings.map((v) => [...v]));
    const one = await ask("/v1/embeddings", { input: ids[1] }, { tokenIds: "own" });
    expect(one.body.data).toHaveLength(1);
    expect(one.body.data[0]!.embedding).toEqual([...embeddings[1]!]);
  });

  it.each([
    // "tiktoken is great!" by OpenAI's cl100k_base, as its cookbook has it.
    ["tokens of another tokenizer", { input: [83, 1609, 5963, 374, 2294, 0] }, /are not this model's/, "input"],
    ["a token no model has", { input: [[99_999_999]] }, /99999999 is no token/, "input"],
    ["no text at all", { input: [] }, /input/, "input"],
    ["no input", {}, /input/, "input"],
    ["a format there is not", { input: "a", encoding_format: "hex" }, /encoding_format/, "encoding_format"],
    ["too many dimensions", { input: "a", dimensions: 1000 }, /1000/, null],
  ])("%s is refused with 400 and the field that is wrong", async (_what, body, message, param) => {
    const answer = await ask("/v1/embeddings", body, { tokenIds: "own" });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_request_error", code: "input_invalid", param } },
    });
    expect(answer.body.error.message).toMatch(message);
  });
});

describe("GET /v1/models", () => {
  it("tells when a model of the store was fetched", async () => {
    const storedTime = async (reference: string): Promise<Date | undefined> => {
      if (reference === "org/broken") throw new Error("no record");
      return reference === "hf:org/a" ? new Date("2026-11-21T10:00:00.500Z") : undefined;
    };
    const options = { models: { mine: "hf:org/a" }, storedNames: async () => ["org/broken"], storedTime };
    const { body } = await ask("/v1/models", undefined, options);
    expect(body.data).toMatchObject([
      { id: "builtin", created: 0 },
      { id: "mine", created: 1_795_255_200 },
      { id: "org/broken", created: 0 },
    ]);
  });

  it("lists the names there are, and tells of one, slashes and all", async () => {
    const options = { models: { "team/mine": "builtin" }, storedNames: async () => ["org/stored"] };
    const { body } = await ask("/v1/models", undefined, options);
    expect(body.data.map(({ id }) => id)).toEqual(["builtin", "team/mine", "org/stored"]);
    for (const path of ["/v1/models/org/stored", "/v1/models/org%2Fstored"])
      expect((await ask(path, undefined, options)).body).toEqual({
        id: "org/stored",
        object: "model",
        created: 0,
        owned_by: "inferyard",
        name: "org/stored",
        endpoints: [],
        default_endpoints: [],
        ready: false,
      });
    expect(await ask("/v1/models/nothing", undefined, options)).toMatchObject({
      status: 404,
      body: { error: { code: "model_not_found", param: "model", type: "invalid_request_error" } },
    });
  });
});

describe("what is told in OpenAI's words", () => {
  it.each([
    ["/v1/chat/completions", { messages: [{ role: "user", content: "a" }] }],
    ["/v1/completions", { prompt: "a" }],
    ["/v1/responses", { input: "a" }],
  ])("%s: that the model cannot write text, what the request lacks, and what is not built", async (path, body) => {
    expect(await ask(path, body)).toMatchObject({ status: 422, body: { error: { code: "model_unsupported" } } });
    expect(await ask(path, {})).toMatchObject({ status: 400, body: { error: { code: "input_invalid" } } });
    const unbuilt = { response_format: { type: "xml" }, best_of: 3, text: { format: { type: "json_schema" } } };
    const [[field, value]] = Object.entries(unbuilt).filter(([name]) => name === fieldOf(path)) as [[string, unknown]];
    expect(await ask(path, { ...body, [field]: value })).toMatchObject({
      status: 400,
      body: { error: { param: paramOf[field] } },
    });
  });
  const paramOf: Record<string, string> = { response_format: "response_format.type", best_of: "best_of", text: "text.format" };
  const fieldOf = (path: string): string =>
    ({ "/v1/completions": "best_of", "/v1/responses": "text" })[path] ?? "response_format";

  it("what fails before a route is reached: a path that is not there, a body too large, a server that ends", async () => {
    expect(await ask("/v1/images")).toMatchObject({ status: 404, body: { error: { type: "invalid_request_error" } } });
    const large = await ask("/v1/embeddings", { input: "a".repeat(300) }, { maxBodyBytes: 200 });
    expect(large).toMatchObject({ status: 413, body: { error: { code: "limit_exceeded", type: "invalid_request_error" } } });
    const handler = createHandler(runtime);
    handler.service.drain();
    const ending = await handler(
      new Request("http://localhost/v1/embeddings", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"input":"a"}',
      }),
    );
    expect([ending.status, ending.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await ending.json()).toMatchObject({ error: { code: "shutting_down", retryable: true, retry_after_ms: 1000 } });
  });
});
