import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { Runtime } from "../../api/runtime.ts";
import { handlerOf } from "../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

async function ask(path: string, body?: unknown): Promise<[number, Record<string, unknown>]> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await handlerOf(runtime)(new Request(`http://localhost${path}`, init));
  return [response.status, (await response.json()) as Record<string, unknown>];
}

describe("Infinity's routes", () => {
  it("GET /models lists what there is, and GET /health says the time", async () => {
    const [, { data }] = await ask("/models");
    const about = { id: "builtin", object: "model", owned_by: "infinity", stats: {} };
    expect(data).toMatchObject([{ ...about, capabilities: expect.arrayContaining(["embed", "rerank"]) }]);
    const [status, { unix }] = await ask("/health");
    expect(status).toBe(200);
    expect(Math.abs(Number(unix) - Date.now() / 1000)).toBeLessThan(60);
  });

  it("take the model that its client names for none", async () => {
    const { embeddings } = await runtime.embed("a cat");
    const [, { embeddings: given }] = await ask("/api/embed", { model: "default/not-specified", input: "a cat" });
    expect(given).toEqual([[...embeddings[0]!]]);
  });

  it("POST /classify needs a model with labels", async () => {
    for (const path of ["/classify", "/v1/classify"]) {
      const [status, { error }] = await ask(path, { input: ["a"] });
      expect([400, 422]).toContain(status);
      expect(error).toMatchObject({ message: expect.any(String) });
    }
  });
});

describe("Azure OpenAI's paths", () => {
  it("embed with the model that the path names, and list models", async () => {
    const { embeddings } = await runtime.embed("a cat");
    const expected = [[...embeddings[0]!]];
    const request = { model: "text-embedding-3-small", input: "a cat", encoding_format: "float" };
    const vectors = (body: Record<string, unknown>): unknown =>
      (body["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding);
    const [, named] = await ask("/openai/deployments/builtin/embeddings?api-version=2024-10-21", request);
    expect(vectors(named)).toEqual(expected);
    const [, plain] = await ask("/openai/v1/embeddings", { ...request, model: "builtin" });
    expect(vectors(plain)).toEqual(expected);
    for (const path of ["/openai/v1/models", "/openai/models?api-version=2024-10-21"])
      expect((await ask(path))[1]).toMatchObject({ object: "list", data: [{ id: "builtin" }] });
    expect((await ask("/openai/models/builtin"))[1]).toMatchObject({ id: "builtin" });
    const [status, { error }] = await ask("/openai/deployments/nothing/embeddings", request);
    expect([status, error]).toMatchObject([404, { code: "model_not_found" }]);
    const chat = { messages: [{ role: "user", content: "a" }] };
    expect((await ask("/openai/deployments/builtin/chat/completions", chat))[0]).toBe(422);
  });
});
