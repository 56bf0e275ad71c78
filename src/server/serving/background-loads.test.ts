import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import * as write from "../../../test/fixtures/models/onnx-bytes.ts";
import { createRuntime } from "../../api/create-runtime.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Runtime } from "../../api/runtime.ts";
import { scriptedBackend } from "../../testing/scripted-backend.ts";
import { type Handler, type HandlerOptions, createHandler } from "../handler.ts";
import { RuntimeEvents } from "../observability/runtime-events.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-loading-"));
const graph = [
  write.node({ operator: "Identity", inputs: ["x"], outputs: ["y"] }),
  write.value(11, "x", 1, [2]),
  write.value(12, "y", 1, [2]),
];
const models = { slow: join(folder, "slow.onnx"), other: join(folder, "other.onnx") };
for (const path of Object.values(models)) writeFileSync(path, write.model({ opsets: { "": 17 }, graph }));
const runtimes: Runtime[] = [];
afterEach(async () => Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose())));
afterAll(() => rmSync(folder, { recursive: true }));

interface Scene {
  readonly handler: Handler;
  /** Ends the loads under way, well or with a failure; those that come later are of no time. */
  readonly settle: (failure?: InferyardError) => void;
  readonly loads: () => number;
  readonly aborted: () => number;
}

async function scene(options: HandlerOptions = {}): Promise<Scene> {
  let settle = (_failure?: InferyardError): void => {};
  let aborted = 0;
  const gate = new Promise<InferyardError | undefined>((resolve) => (settle = resolve));
  const backend = scriptedBackend("onnx", {
    onLoad: async (_model, _device, { signal }) => {
      signal?.addEventListener("abort", () => (aborted += 1));
      const failure = await gate;
      if (failure !== undefined) throw failure;
    },
  });
  const events = new RuntimeEvents();
  const runtime = await createRuntime({ backends: [backend], onEvent: events.emit });
  runtimes.push(runtime);
  const handler = createHandler(runtime, { models, events, ...options });
  return { handler, settle, loads: () => backend.calls.filter((call) => call === "load cpu").length, aborted: () => aborted };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

async function ask({ handler }: Scene, path: string, body: unknown = {}): Promise<Answer> {
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const response = await handler(request);
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

const infer = { inputs: [{ name: "x", datatype: "FP32", shape: [2], data: [1, 2] }] };
const inferred = (scene: Scene, model = "slow"): Promise<Answer> => ask(scene, `/v2/models/${model}/infer`, infer);
const progress = { stage: expect.stringMatching(/^(preparing|loading)$/), elapsed_ms: expect.any(Number) };

describe("a request for a model that is not in memory", () => {
  it("waits for it where nothing is said", async () => {
    const own = await scene();
    const answer = inferred(own);
    await vi.waitFor(() => expect(own.loads()).toBe(1), { timeout: 60_000 });
    own.settle();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ["/api/embed", { input: "a", model: "slow" }, { error: { code: "MODEL_LOADING", retryable: true, loading: progress } }],
    ["/v1/embeddings", { input: "a", model: "slow" }, { error: { code: "model_loading", retryable: true, loading: progress } }],
    ["/v2/rerank", { query: "a", documents: ["b"], model: "slow" }, { code: "MODEL_LOADING", loading: progress }],
    ["/v2/models/slow/infer", infer, { code: "MODEL_LOADING", retryable: true, loading: progress }],
    ["/embed", { inputs: "a" }, { error_type: "Unhealthy", code: "MODEL_LOADING", loading: progress }],
  ])("loadingWait 0: %s is told at once, in the words of its protocol, and the load goes on", async (path, body, shape) => {
    const own = await scene({ loadingWait: 0, defaultModel: "slow" });
    expect(await ask(own, path, body)).toMatchObject({ status: 503, retryAfter: "1", body: shape });
    await vi.waitFor(() => expect(own.loads()).toBe(1), { timeout: 60_000 });
    expect((await ask(own, path, body)).body).toMatchObject(
      JSON.parse(JSON.stringify(shape), (key, value: unknown) => (key === "loading" ? { stage: "loading" } : value)) as object,
    );
    own.settle();
    await vi.waitFor(async () => expect((await inferred(own)).status).toBe(200), { timeout: 60_000 });
    expect(own.loads()).toBe(1);
  });

  it("loadingWait: who waits that long gets the answer when it comes in time", async () => {
    const own = await scene({ loadingWait: "60s" });
    const answers = [inferred(own), inferred(own)];
    await vi.waitFor(() => expect(own.loads()).toBe(1), { timeout: 60_000 });
    own.settle();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("is told what went wrong, once, though nobody waited for the load when it failed", async () => {
    const own = await scene({ loadingWait: 0 });
    expect((await inferred(own)).status).toBe(503);
    await vi.waitFor(() => expect(own.loads()).toBe(1), { timeout: 60_000 });
    own.settle(new InferyardError("MODEL_INVALID", "it is damaged"));
    await vi.waitFor(async () => expect(await inferred(own)).toMatchObject({ status: 422, body: { code: "MODEL_INVALID" } }), {
      timeout: 60_000,
    });
    expect(await inferred(own)).toMatchObject({ status: 503, body: { code: "MODEL_LOADING" } });
  });

  it("that is being loaded in the background holds up nobody else", async () => {
    const own = await scene({ loadingWait: 0 });
    await inferred(own);
    expect((await inferred(own, "other")).status).toBe(503);
    own.settle();
    await vi.waitFor(async () => expect((await inferred(own, "other")).status).toBe(200), { timeout: 60_000 });
  });

  it("a load that nobody waits for is given up when the server ends", async () => {
    const own = await scene({ loadingWait: 0 });
    await inferred(own);
    await vi.waitFor(() => expect(own.loads()).toBe(1), { timeout: 60_000 });
    own.handler.service.drain();
    await vi.waitFor(() => expect(own.aborted()).toBe(1), { timeout: 60_000 });
    own.settle();
  });
});

describe("POST /api/models/{name}/load", () => {
  it("waits however long it takes, whatever loadingWait says", async () => {
    const own = await scene({ loadingWait: 0 });
    const answers = [ask(own, "/api/models/slow/load"), ask(own, "/v2/repository/models/other/load")];
    await vi.waitFor(() => expect(own.loads()).toBe(2), { timeout: 60_000 });
    own.settle();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("wait=false: 202 with how far it is, and 200 when it is there", async () => {
    const own = await scene();
    const load = (): Promise<Answer> => ask(own, "/api/models/slow/load?wait=false");
    expect(await load()).toMatchObject({ status: 202, body: { model: "slow", loading: progress } });
    expect(await load()).toMatchObject({ status: 202 });
    own.settle();
    await vi.waitFor(
      async () => expect(await load()).toMatchObject({ status: 200, body: { model: "slow", target: "onnx:cpu" } }),
      { timeout: 60_000 },
    );
    expect(own.loads()).toBe(1);
    expect((await ask(own, "/api/models/slow/load?wait=perhaps")).status).toBe(400);
  });

  it("wait=false: what went wrong", async () => {
    const own = await scene();
    own.settle(new InferyardError("MODEL_INVALID", "it is damaged"));
    await vi.waitFor(async () => expect(await ask(own, "/api/models/slow/load?wait=false")).toMatchObject({ status: 422 }), {
      timeout: 60_000,
    });
  });
});
