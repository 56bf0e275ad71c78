import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { version } from "../../../version.ts";
import { ollamaVersion } from "./version.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

interface Request {
  readonly body?: unknown;
  readonly userAgent?: string;
  /** Default: this machine, an administrator. */
  readonly from?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(path: string, { body, userAgent = "test", from = "127.0.0.1" }: Request = {}): Promise<Answer> {
  const headers = { "content-type": "application/json", "user-agent": userAgent, host: "localhost" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const request = new Request(`http://localhost${path}`, init);
  const response = await handlerOf(runtime)(request, { remoteAddress: from, listenAddress: "0.0.0.0" });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

const texts = ["a cat purrs", "ein Satz"];

describe("POST /api/embed", () => {
  it("answers Ollama's fields beside ours", async () => {
    const { embeddings, tokens, dimensions } = await runtime.embed(texts);
    const request = { model: "builtin:latest", input: texts, options: { temperature: 0, num_thread: null }, truncate: true };
    expect(await ask("/api/embed", { body: request })).toEqual({
      status: 200,
      body: {
        model: "builtin",
        dimensions,
        embeddings: embeddings.map((vector) => [...vector]),
        tokens: [...tokens],
        total_duration: expect.any(Number),
        load_duration: expect.any(Number),
        prompt_eval_count: tokens[0]! + tokens[1]!,
      },
    });
  });

  it("reads at most num_ctx tokens, and says the load's nanoseconds where it loaded", async () => {
    const input = "a cat and a dog and a house";
    await runtime.unloadIdle();
    const { body } = await ask("/api/embed", { body: { input, options: { num_ctx: 2 } } });
    const { embeddings } = await runtime.embed(input, { maxTokens: 2 });
    expect(body["embeddings"]).toEqual([[...embeddings[0]!]]);
    expect(body["prompt_eval_count"]).toBe(2);
    const [total, load] = [body["total_duration"] as number, body["load_duration"] as number];
    expect(load).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual(load);
    expect(Number.isInteger(total) && Number.isInteger(load)).toBe(true);
    const again = await ask("/api/embed", { body: { input } });
    expect(again.body["load_duration"]).toBe(0);
    const strict = await ask("/api/embed", { body: { input, truncate: false, options: { num_ctx: 2 } } });
    expect(strict.status).toBe(413);
  });

  it.each([
    [{ input: "a", options: { temprature: 1 } }, /"temprature" is no option of Ollama/],
    [{ input: "a", options: { num_ctx: 0 } }, /num_ctx must be a positive integer/],
    [{ input: "a", keep_alive: "5 minutes" }, /keep_alive is "5 minutes"/],
  ])("refuses %j", async (body, message) => {
    const answer = await ask("/api/embed", { body, userAgent: "ollama-js/0.6.3 (x64 linux Node.js/v20)" });
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toMatch(message);
  });
});

describe("keep_alive", () => {
  const expiry = (): number | null | undefined => runtime.memory().models[0]?.expiresAt;

  it("sets how long the model stays, and 0 unloads it", async () => {
    await ask("/api/embed", { body: { input: "a", keep_alive: 3600 } });
    expect(expiry()).toBeGreaterThan(Date.now() + 3_500_000);
    await ask("/api/embed", { body: { input: "a", keep_alive: -1 } });
    expect(expiry()).toBeNull();
    expect((await ask("/api/ps")).body["models"]).toMatchObject([{ model: "builtin", expires_at: "9999-12-31T23:59:59Z" }]);
    await ask("/api/rerank", { body: { query: "a", documents: ["b"], keep_alive: "2h" } });
    expect(expiry()).toBeLessThan(Date.now() + 7_300_000);
    const { body } = await ask("/api/embeddings", { body: { model: "builtin", keep_alive: 0 } });
    expect(body).toEqual({ embedding: [] });
    await expect.poll(() => runtime.memory().models).toEqual([]);
    expect((await ask("/api/ps")).body).toEqual({ models: [] });
  });
});

describe("the other routes", () => {
  it("POST /api/embeddings gives the vector of its prompt", async () => {
    const { embeddings } = await runtime.embed("a cat");
    expect((await ask("/api/embeddings", { body: { model: "builtin", prompt: "a cat" } })).body).toEqual({
      embedding: [...embeddings[0]!],
    });
  });

  it("GET /api/tags and POST /api/show describe models by their files", async () => {
    const { body } = await ask("/api/tags");
    const about = {
      name: "builtin",
      model: "builtin",
      size: expect.any(Number),
      modified_at: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect(body["models"]).toMatchObject([{ ...about, details: { format: "safetensors" } }]);
    for (const named of [{ model: "builtin:latest" }, { name: "builtin" }]) {
      const shown = await ask("/api/show", { body: named });
      expect(shown.body).toMatchObject({
        details: { format: "safetensors" },
        capabilities: expect.arrayContaining(["embedding"]),
      });
    }
    expect((await ask("/api/version")).body).toEqual({ version: ollamaVersion, inferyard: version });
  });

  it("POST /api/rerank ranks documents, or scores prompts, by its fields", async () => {
    const documents = ["a car", "a cat purrs"];
    const { results, scoring } = await runtime.rerank("a pet", documents);
    const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
    expect((await ask("/api/rerank", { body: { query: "a pet", prompts: documents } })).body).toEqual({
      model: "builtin",
      scores,
      scoring,
    });
    const ranked = await ask("/api/rerank", { body: { query: "a pet", documents, top_n: 1, return_documents: true } });
    const [best] = results;
    expect(ranked.body).toEqual({
      model: "builtin",
      scoring,
      results: [{ index: best!.index, relevance_score: best!.score, document: { text: best!.text } }],
    });
    for (const wrong of [{}, { prompts: documents, documents }, { prompts: documents, top_n: 1 }])
      expect((await ask("/api/rerank", { body: { query: "a pet", ...wrong } })).status).toBe(400);
  });
});

describe("errors", () => {
  it("are texts on Ollama's routes and for Ollama's clients, and objects for others", async () => {
    const text = { error: expect.stringMatching(/no model "nothing"/), code: "MODEL_NOT_FOUND", retryable: false };
    const body = { model: "nothing", input: "a" };
    expect(await ask("/api/show", { body: { model: "nothing" } })).toMatchObject({ status: 404, body: text });
    for (const userAgent of ["ollama-js/0.6.3 (x64)", "ollama-python/0.6.3 (x)", "ollama/0.12 (amd64 linux) Go/go1.24"])
      expect(await ask("/api/embed", { body, userAgent })).toMatchObject({ status: 404, body: text });
    const own = await ask("/api/embed", { body });
    expect(own).toMatchObject({ status: 404, body: { error: { code: "MODEL_NOT_FOUND" } } });
    const format = { messages: [{ role: "user", content: "a" }], format: "xml" };
    expect((await ask("/api/chat", { body: format })).body["error"]).toMatch(/format/);
  });
});
