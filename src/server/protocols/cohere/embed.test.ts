import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { promptOption } from "../input-type.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

interface Answer {
  readonly status: number;
  readonly body: {
    readonly embeddings: Record<string, number[][]>;
    readonly message: string;
    readonly models: readonly { readonly name: string; readonly endpoints: readonly string[] }[];
    readonly next_page_token?: string;
  };
}

async function ask(path: string, body?: unknown): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await handlerOf(runtime)(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const texts = ["a cat purrs", "ein Satz"];

describe("POST /v1/embed and /v2/embed", () => {
  it("give the library's vectors: plain in version 1, by type in version 2", async () => {
    const { embeddings, tokens } = await runtime.embed(texts);
    const vectors = embeddings.map((vector) => [...vector]);
    const read = tokens.reduce((sum, count) => sum + count, 0);
    const rest = (version: string) => ({
      id: expect.any(String),
      texts,
      meta: { api_version: { version }, billed_units: { input_tokens: read } },
    });
    const first = await ask("/v1/embed", { model: "builtin", texts, input_type: "search_document" });
    expect(first).toEqual({ status: 200, body: { ...rest("1"), response_type: "embeddings_floats", embeddings: vectors } });
    const second = await ask("/v2/embed", { model: "builtin", texts, input_type: "search_query" });
    const byType = { response_type: "embeddings_by_type", embeddings: { float: vectors } };
    expect(second.body).toEqual({ ...rest("2"), ...byType });
    const typed = await ask("/v1/embed", { texts, embedding_types: ["float"] });
    expect(typed.body).toEqual({ ...rest("1"), ...byType });
    const inputs = texts.map((text) => ({ content: [{ type: "text", text }] }));
    expect((await ask("/v2/embed", { inputs, images: [] })).body.embeddings).toEqual({ float: vectors });
  });

  it("give every type, in the formats that the document names", async () => {
    const types = ["float", "int8", "uint8", "binary", "ubinary", "base64"];
    const { body } = await ask("/v2/embed", { texts, embedding_types: types });
    const { float = [], int8 = [], uint8 = [], binary = [], ubinary = [], base64 = [] } = body.embeddings;
    const packed = await runtime.embed(texts, { precision: "ubinary" });
    expect(ubinary).toEqual(packed.embeddings.map((bytes) => [...bytes]));
    expect(binary).toEqual(ubinary.map((bytes) => bytes.map((byte) => byte - 128)));
    expect(uint8).toEqual(int8.map((codes) => codes.map((code) => code + 128)));
    for (const [index, vector] of float.entries()) {
      for (const [dimension, value] of vector.entries())
        expect(Math.abs(int8[index]![dimension]! - 127 * value)).toBeLessThanOrEqual(0.5001);
      const bytes = Buffer.from(base64[index] as unknown as string, "base64");
      expect(Array.from(vector, (_value, dimension) => bytes.readFloatLE(4 * dimension))).toEqual(vector);
    }
  });

  it("keep as many tokens and dimensions as are asked for", async () => {
    const long = ["a cat and a dog and a house"];
    const cut = await ask("/v2/embed", { texts: long, max_tokens: 2, output_dimension: 8 });
    const direct = await runtime.embed(long, { maxTokens: 2, dimensions: 8 });
    expect(cut.body.embeddings["float"]).toEqual([[...direct.embeddings[0]!]]);
    expect((await ask("/v2/embed", { texts: long, max_tokens: 2, truncate: "NONE" })).status).toBe(413);
  });

  it.each([
    [{ texts, inputs: [{ content: [{ type: "text", text: "a" }] }] }, 400, /both texts and inputs/],
    [{ texts: [] }, 400, /neither texts nor inputs/],
    [
      {
        inputs: [
          {
            content: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
      400,
      /inputs\.0 has 2 parts/,
    ],
    [{ texts, images: ["data:image/png;base64,AA=="] }, 400, /both texts and images/],
    [{ texts, input_type: "image" }, 400, /input_type "image"/],
    [{ texts, truncate: "START" }, 400, /START/],
    [{ texts, embedding_types: ["binary"], output_dimension: 12 }, 400, /8 dimensions into a byte, and the vectors have 12/],
    [{ texts, embedding_types: ["int4"] }, 400, /embedding_types/],
  ])("refuse %j in Cohere's words", async (body, status, message) => {
    const answer = await ask("/v2/embed", body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(message);
  });

  it("select the model's prompt by input_type, where it has one of that use", () => {
    const text = { prompts: { passage: "passage: ", query: "query: " } } as never;
    expect(promptOption({ text }, "search_query")).toEqual({ prompt: "query" });
    expect(promptOption({ text }, "search_document")).toEqual({ prompt: "passage" });
    expect(promptOption({ text }, "clustering")).toEqual({});
    expect(promptOption({ text }, undefined)).toEqual({});
  });
});

describe("GET /v1/models", () => {
  it("lists models for Cohere's clients too, by endpoint and by pages", async () => {
    const { body } = await ask("/v1/models?endpoint=embed&default_only=true");
    expect(body.models).toEqual([
      { name: "builtin", endpoints: ["embed", "rerank"], default_endpoints: ["embed", "rerank"], context_length: 512 },
    ]);
    expect((await ask("/v1/models?endpoint=chat")).body.models).toEqual([]);
    expect((await ask("/v1/models?page_size=1&page_token=1")).body.models).toEqual([]);
    expect((await ask("/v1/models/builtin")).body).toMatchObject({ id: "builtin", name: "builtin", ready: expect.any(Boolean) });
  });
});
