import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { HandlerOptions } from "../../handler.ts";
import { needsData, sharedData } from "../../../../test/fixtures/shared-data.ts";
import { handlerOf } from "../../../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

type Asked = readonly [method: string, path: string, body?: unknown];

async function ask([method, path, body]: Asked, options: HandlerOptions = {}): Promise<{ status: number; body: unknown }> {
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const request = new Request(`http://localhost${path}`, { method, ...(body === undefined ? {} : json) });
  const response = await handlerOf(runtime, options)(request);
  return { status: response.status, body: await response.json() };
}

it("POST /api/rerank gives scores in the order of the texts", async () => {
  const prompts = ["a car", "a cat"];
  const { results, scoring } = await runtime.rerank("a pet", prompts);
  const scores = [0, 1].map((place) => results.find(({ index }) => index === place)!.score);
  expect((await ask(["POST", "/api/rerank", { query: "a pet", prompts }])).body).toEqual({ model: "builtin", scores, scoring });
});

describe("POST /api/chunk", () => {
  const text = "One sentence. Another one.\n\nA second paragraph, which is longer.";

  it("cuts as the library does", async () => {
    const { results } = await runtime.chunk(text, { targetTokens: 6, overlapTokens: 2, maxChunks: 2, offsets: "bytes" });
    const config = { model: "fixed", target_tokens: 6, overlap_tokens: 2, max_chunks: 2, offsets: "bytes" };
    const chunks = results[0]!.chunks.map(({ start, end, ...chunk }) => ({ ...chunk, start_char: start, end_char: end }));
    expect((await ask(["POST", "/api/chunk", { input: text, config }])).body).toEqual({
      model: "builtin",
      chunks,
      truncated: true,
    });
    expect((await ask(["POST", "/api/chunk", { text }])).body).toMatchObject({ chunks: [{ id: 0, text, start_char: 0 }] });
  });
});

describe("models", () => {
  const [skipWriters, writers] = needsData(
    "that write are listed, and none is said to classify; one that hears does nothing with texts",
  );
  it.skipIf(skipWriters)(writers, async () => {
    const models = {
      gpt2: `${sharedData}tiny-random-gpt2`,
      bart: `${sharedData}tiny-random-bart`,
      whisper: `${sharedData}tiny-random-whisper`,
    };
    const { body } = await ask(["GET", "/api/models"], { models });
    expect(body).toMatchObject({ generators: ["gpt2"], rewriters: ["bart"], classifiers: [] });
    expect((body as { models: object[] }).models).toContainEqual(
      expect.objectContaining({ name: "whisper", capabilities: ["transcribe"] }),
    );
  });

  it("are listed by what they can do, with those that cannot be read", async () => {
    const { body } = await ask(["GET", "/api/models"], { models: { mine: "builtin", gone: "/nowhere/at/all" } });
    expect(body).toMatchObject({
      embedders: ["builtin", "mine"],
      rerankers: ["builtin", "mine"],
      classifiers: [],
      recognizers: [],
      chunkers: ["builtin", "mine"],
      generators: [],
      rewriters: [],
    });
    expect((body as { models: object[] }).models).toEqual([
      expect.objectContaining({ name: "builtin", capabilities: ["embed", "similarity", "rerank", "chunk"], max_tokens: 512 }),
      expect.objectContaining({ name: "mine" }),
      { name: "gone", tasks: [], capabilities: [], formats: [], max_tokens: null, problem: "MODEL_NOT_FOUND" },
    ]);
    expect(JSON.stringify(body)).not.toContain("/nowhere");
  });

  it("are loaded and unloaded, and say why they run where they do while they are in memory", async () => {
    const options = { models: { "team/mine": "builtin" } };
    await runtime.unload("builtin");
    const before = await ask(["GET", "/api/models/team/mine/decision"], options);
    expect(before).toMatchObject({
      status: 404,
      body: { error: { code: "MODEL_NOT_FOUND", remedy: expect.stringContaining("explain") } },
    });
    const loaded = await ask(["POST", "/api/models/team%2Fmine/load"], options);
    const id = (await runtime.loaded())[0]!.id;
    expect(loaded).toMatchObject({ status: 200, body: { model: "team/mine", target: "native:cpu", decision: id } });
    const decision = await ask(["GET", "/api/models/team/mine/decision"], options);
    expect(decision).toMatchObject({
      status: 200,
      body: { id, model: { reference: "team/mine" }, selected: { target: "native:cpu" } },
    });
    const elsewhere = await ask(["GET", "/api/models/team/mine@wasm/decision"], options);
    expect(elsewhere).toMatchObject({ status: 404, body: { error: { code: "MODEL_NOT_FOUND" } } });
    expect((await ask(["POST", "/api/models/team/mine/unload"], options)).body).toEqual({ model: "team/mine", unloaded: true });
    expect((await ask(["POST", "/api/models/team/mine/unload"], options)).body).toEqual({ model: "team/mine", unloaded: false });
  });
});

it.each(["/api/models/builtin/load", "/api/models/builtin/unload"])("%s is for admins", async (path) => {
  const response = await handlerOf(runtime)(new Request(`http://localhost${path}`, { method: "POST" }), {
    remoteAddress: "192.0.2.1",
  });
  expect([response.status, await response.json()]).toMatchObject([403, { error: { code: "FORBIDDEN" } }]);
});

it("explain says where a model would run, by GET and by POST; backends what engines say", async () => {
  const byGet = await ask(["GET", "/api/explain?model=builtin&prefer=native:cpu"]);
  const byPost = await ask(["POST", "/api/explain", { model: "builtin", prefer: "native:cpu" }]);
  for (const { status, body } of [byGet, byPost]) {
    expect(status).toBe(200);
    expect(body).toMatchObject({ model: { reference: "builtin" }, constraints: { preferred: ["native:cpu"] }, selected: null });
    expect((body as { candidates: object[] }).candidates[0]).toMatchObject({ target: "native:cpu", verdict: "would-run" });
  }
  const inAnyCase = await ask(["POST", "/api/explain", { model: "builtin", gpu: "OFF", exclude: "ONNX" }]);
  expect([inAnyCase.status, inAnyCase.body]).toMatchObject([200, { constraints: { required: ["*:cpu"], excluded: ["onnx"] } }]);
  const suffixed = await ask(["POST", "/api/explain", { model: "builtin@LLAMACPP" }]);
  expect([suffixed.status, suffixed.body]).toMatchObject([200, { constraints: { required: ["llamacpp"] } }]);
  const { body } = await ask(["GET", "/api/backends"]);
  const { backends } = body as { backends: { backend: string; availability: object }[] };
  expect(backends.map(({ backend }) => backend)).toEqual(["onnx", "xla", "llamacpp", "native", "wasm", "library"]);
  expect(backends[3]!.availability).toMatchObject({ present: true, devices: [{ state: "present" }] }); // nothing ran for this
});

it.each<[...Asked, number, string]>([
  ["POST", "/api/rewrite", { texts: ["a"] }, 422, "MODEL_UNSUPPORTED"],
  ["POST", "/api/read", {}, 400, "INPUT_INVALID"],
  ["POST", "/api/transcribe", {}, 400, "INPUT_INVALID"],
  ["POST", "/api/transcribe", { audio: "UklGRg==" }, 422, "MODEL_UNSUPPORTED"],
  ["POST", "/api/classify", { texts: ["a"] }, 422, "MODEL_UNSUPPORTED"],
  ["POST", "/api/recognize", { texts: ["a"] }, 422, "MODEL_UNSUPPORTED"],
  ["POST", "/api/recognize", { texts: ["a"], relation_labels: ["of"] }, 400, "INPUT_INVALID"],
  ["POST", "/api/classify", { texts: ["a", "b"], labels: ["c", "d"] }, 413, "LIMIT_EXCEEDED"],
  ["POST", "/api/explain", { model: "builtin", exclude: "wsam" }, 400, "INPUT_INVALID"],
  ["POST", "/api/explain", { model: "builtin", gpu: "cudaa" }, 400, "INPUT_INVALID"],
  ["POST", "/api/explain", { model: "builtin@nativ" }, 404, "MODEL_NOT_FOUND"],
  ["POST", "/api/chunk", {}, 400, "INPUT_INVALID"],
  ["POST", "/api/chunk", { input: "a", text: "a" }, 400, "INPUT_INVALID"],
  ["POST", "/api/chunk", { input: "a", config: { overlap_tokens: 500 } }, 400, "INPUT_INVALID"],
  ["POST", "/api/explain", { model: "builtin", target: "quantum:cpu:x" }, 400, "INPUT_INVALID"],
  ["GET", "/api/explain?constraints=none", undefined, 400, "INPUT_INVALID"],
  ["GET", "/api/models/nothing/decision", undefined, 404, "MODEL_NOT_FOUND"],
])("%s %s with %j answers %d %s", async (method, path, body, status, code) => {
  expect(await ask([method, path, body], { maxTexts: 3 })).toMatchObject({ status, body: { error: { code } } });
});
