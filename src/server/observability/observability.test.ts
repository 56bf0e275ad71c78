import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { Runtime } from "../../api/runtime.ts";
import { type Handler, type HandlerOptions, createHandler } from "../handler.ts";
import { type Log, createLog } from "./log.ts";
import { RuntimeEvents } from "./runtime-events.ts";
import { startupReport } from "./startup-report.ts";

let runtime: Runtime;
const events = new RuntimeEvents();
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1, onEvent: events.emit })));
afterAll(() => runtime.dispose());

const get = (handler: Handler, path: string, init: RequestInit = {}): Promise<Response> =>
  handler(new Request(`http://localhost${path}`, init));

function embed(handler: Handler, body: unknown): Promise<Response> {
  return get(handler, "/api/embed", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Values by what stands before them. */
async function metricsOf(handler: Handler): Promise<Map<string, number>> {
  const text = await (await get(handler, "/metrics")).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

function logged(level: "info" | "debug" | "warn" | "error"): { readonly log: Log; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { log: createLog({ level, stream: { write } }), lines };
}

const decision = async (): Promise<Extract<RuntimeEvent, { type: "loaded" }>["decision"]> =>
  runtime.use("builtin", {}, async (handle) => handle.decision);

describe("the log of a start", () => {
  let runtime: Runtime; // its own, without a loaded model
  beforeEach(async () => void (runtime = await createRuntime({ host: "inline", threads: 1 })));
  afterEach(() => runtime.dispose());

  it("names every backend and device with its state, the default model, and each model with its target and the reason", async () => {
    const { log, lines } = logged("info");
    const models = { small: "builtin", gone: "/models/secret/no-such-model" };
    const handler = createHandler(runtime, { models, defaultModel: "small" });
    log.startup(await startupReport(handler.service));
    const shown = lines.map(({ level: _level, time: _time, ...line }) => line);
    expect(shown).toContainEqual({ msg: "backend", target: "native:cpu", state: "present", reason: "part of inferyard" });
    for (const target of ["onnx:cpu", "wasm:cpu"])
      expect(shown).toContainEqual(expect.objectContaining({ msg: "backend", target }));
    expect(shown).toContainEqual({ msg: "default model", model: "small" });
    expect(shown).toContainEqual({
      msg: "model",
      model: "small",
      target: "native:cpu",
      reason: expect.stringContaining("int4"),
      loaded: false,
      fallbacks: expect.any(Array),
    });
    const gone = lines.find(({ model }) => model === "gone");
    expect(gone).toMatchObject({ level: 40, msg: "model", reason: expect.stringContaining("no-such-model") });
    expect(JSON.stringify(lines)).not.toContain("secret");
    expect(await runtime.explain("builtin")).toMatchObject({ selected: null });
  });

  it("says of a model that no target may run what refused each of them, whatever it was loaded on for others", async () => {
    await runtime.embed("a cat");
    const handler = createHandler(runtime, { defaultModel: "builtin@onnx:cpu" });
    const { models } = await startupReport(handler.service);
    expect(models).toEqual([{ model: "builtin", reason: expect.stringContaining("onnx:cpu: capability: "), loaded: false }]);
  });
});

describe("GET /metrics", () => {
  it("counts requests by route, model and code, and what the models did", async () => {
    await runtime.unloadIdle();
    const handler = createHandler(runtime, { events });
    await embed(handler, { input: ["a cat", "a dog"] });
    await embed(handler, { input: "a", model: "nowhere-1" });
    await embed(handler, { input: 3 });
    await get(handler, "/no/such/route");
    const metrics = await metricsOf(handler);
    expect(Object.fromEntries(metrics)).toMatchObject({
      'inferyard_requests_total{route="post_api_embed",model="builtin",code="200"}': 1,
      'inferyard_requests_total{route="post_api_embed",model="",code="404"}': 1,
      'inferyard_requests_total{route="post_api_embed",model="",code="400"}': 1,
      'inferyard_requests_total{route="none",model="",code="404"}': 1,
      'inferyard_errors_total{code="INPUT_INVALID"}': 1,
      'inferyard_errors_total{code="MODEL_NOT_FOUND"}': 1,
      'inferyard_tokens_total{model="builtin"}': 4,
      'inferyard_inference_seconds_count{model="builtin",target="native:cpu"}': 1,
      'inferyard_queue_seconds_count{model="builtin"}': 1,
      'inferyard_load_seconds_count{model="builtin",target="native:cpu"}': 1,
      inferyard_models_loaded: 1,
      inferyard_requests_running: 0,
      inferyard_requests_waiting: 0,
    });
    expect(metrics.get('inferyard_model_memory_bytes{device="memory"}')).toBeGreaterThan(1e6);
    expect(metrics.get('inferyard_event_loop_delay_seconds{percentile="99"}')).toBeGreaterThanOrEqual(0);
  });

  it("counts what is wrong with a request as that, and not as a defect of the server", async () => {
    const handler = createHandler(runtime, { events });
    const send = (body: string, type: string): Promise<Response> =>
      get(handler, "/v1/embeddings", { method: "POST", headers: { "content-type": type }, body });
    expect((await send("{", "application/json")).status).toBe(400);
    expect((await send("a", "text/plain")).status).toBe(415);
    expect((await get(handler, "/api/embed")).status).toBe(405);
    const metrics = Object.fromEntries(await metricsOf(handler));
    expect(metrics).toMatchObject({
      'inferyard_errors_total{code="INPUT_INVALID"}': 1,
      'inferyard_errors_total{code="MEDIA_TYPE_UNSUPPORTED"}': 1,
      'inferyard_errors_total{code="METHOD_NOT_ALLOWED"}': 1,
    });
    expect(Object.keys(metrics).filter((name) => name.includes("DEFECT"))).toEqual([]);
  });

  it.each([
    ["*/*", "text/plain; version=0.0.4; charset=utf-8"],
    ["application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=1.0.0; charset=utf-8"],
    // as Prometheus 3 asks
    [
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
      "application/openmetrics-text; version=1.0.0; charset=utf-8",
    ],
    ["text/plain;q=0.9,application/openmetrics-text;q=0.5", "text/plain; version=0.0.4; charset=utf-8"],
  ])("comes in the format that Accept prefers: %s", async (accept, type) => {
    const handler = createHandler(runtime, { events });
    await embed(handler, { input: "a cat" });
    const response = await get(handler, "/metrics", { headers: { accept } });
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe(type);
    const isOpen = type.startsWith("application/openmetrics-text");
    expect(text.includes(`# TYPE inferyard_requests${isOpen ? "" : "_total"} counter\n`)).toBe(true);
    expect(text.endsWith("\n# EOF\n")).toBe(isOpen);
    expect(text).toContain('inferyard_requests_total{route="post_api_embed",model="builtin",code="200"} 1\n');
    expect(text).not.toContain("quantile=");
  });

  it("counts deaths and restarts of models' processes", async () => {
    const own = new RuntimeEvents();
    const handler = createHandler(runtime, { events: own, models: { mine: "/models/secret/m" } });
    const place = { reference: "/models/secret/m", target: "onnx:cpu" };
    const death = {
      type: "died",
      ...place,
      reason: "the process died of SIGABRT",
      deaths: 1,
      crashLoop: false,
      backoffMs: 0,
    } as const;
    for (const event of [death, death]) own.emit(event);
    own.emit({ type: "restarted", ...place, why: "died", milliseconds: 80 });
    own.emit({ type: "restarted", ...place, why: "memory", milliseconds: 80 });
    expect(Object.fromEntries(await metricsOf(handler))).toMatchObject({
      'inferyard_child_deaths_total{model="mine",target="onnx:cpu"}': 2,
      'inferyard_child_restarts_total{model="mine",target="onnx:cpu",why="died"}': 1,
      'inferyard_child_restarts_total{model="mine",target="onnx:cpu",why="memory"}': 1,
    });
  });

  it("counts evictions and fallbacks, of loads and of runs, under the server's own names", async () => {
    const own = new RuntimeEvents();
    const handler = createHandler(runtime, { events: own, models: { mine: "/models/secret/m" } });
    const loaded = await decision();
    const model = { ...loaded.model, reference: "/models/secret/m" };
    own.emit({
      type: "unloaded",
      reference: "/models/secret/m",
      target: "onnx:cpu",
      why: "evicted",
      evictedFor: "/models/secret/other",
    });
    own.emit({ type: "failover", reference: "/models/secret/m", from: "onnx:cuda", reason: "it died" });
    const tried = { target: "onnx:cuda", verdict: "failed", stage: "verify", reason: "off" } as const;
    own.emit({ type: "loaded", decision: { ...loaded, model, candidates: [tried, ...loaded.candidates] } });
    const metrics = await metricsOf(handler);
    expect(Object.fromEntries(metrics)).toMatchObject({
      'inferyard_unloads_total{model="mine",target="onnx:cpu",why="evicted"}': 1,
      'inferyard_fallbacks_total{from="onnx:cuda",to="native:cpu",reason="run"}': 1,
      'inferyard_fallbacks_total{from="onnx:cuda",to="native:cpu",reason="verify"}': 1,
    });
    expect([...metrics.keys()].join("\n")).not.toContain("secret");
  });
});

describe("GET /metrics of batches", () => {
  it.each([true, false])("tells rows, tokens and padding of what ran together (shared: %s)", async (shareBatches) => {
    const own = new RuntimeEvents();
    const batching = await createRuntime({ shareBatches, onEvent: own.emit, onBatch: own.emitBatch });
    const handler = createHandler(batching, { events: own, models: { mine: "builtin" } });
    await embed(handler, { input: ["a", "a cat sleeps"] });
    const metrics = await metricsOf(handler);
    expect(Object.fromEntries(metrics)).toMatchObject({
      'inferyard_batch_rows_sum{model="mine"}': 2,
      'inferyard_batch_rows_count{model="mine"}': 1,
      'inferyard_batch_tokens_sum{model="mine"}': 1 + 3,
    });
    const ratio = metrics.get('inferyard_padding_ratio_sum{model="mine"}')!;
    expect(ratio).toBeCloseTo(1 - (1 + 3) / (2 * 3), 6);
    await batching.dispose();
  });

  it("counts what runs and what waits, and how late the event loop was", async () => {
    const handler = createHandler(runtime, { maxConcurrentRequests: 1 });
    let end = (): void => {};
    const applicant = { client: "a", priority: "normal", signal: new AbortController().signal } as const;
    const running = handler.service.admission.run(applicant, () => new Promise<void>((resolve) => (end = resolve)));
    const waiting = embed(handler, { input: "a" });
    while (handler.service.admission.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(Object.fromEntries(await metricsOf(handler))).toMatchObject({
      inferyard_requests_running: 1,
      inferyard_requests_waiting: 1,
    });
    end();
    await running;
    await waiting;
    await new Promise((resolve) => setTimeout(resolve, 30)); // so that the measuring has begun
    const until = performance.now() + 100;
    while (performance.now() < until); // nothing else runs meanwhile
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await metricsOf(handler)).get('inferyard_event_loop_delay_seconds{percentile="100"}')).toBeGreaterThan(0.05);
  });
});

describe("the log", () => {
  const secret = "nobody may read this text";
  const run = async (options: HandlerOptions, on: Runtime = runtime): Promise<void> => {
    const handler = createHandler(on, options);
    await embed(handler, { input: secret });
    await embed(handler, { input: secret, truncate: secret });
    await get(handler, "/health/live");
  };

  it("has a line for each request, with where it ran and how long it took, and no text", async () => {
    const { log, lines } = logged("info");
    await run({ log });
    expect(lines).toMatchObject([
      { msg: "request", level: 30, route: "/api/embed", status: 200, model: "builtin", target: "native:cpu", tokens: 5 },
      { level: 40, status: 400, code: "INPUT_INVALID" },
    ]);
    expect(lines[0]).toMatchObject({ requestId: expect.any(String), ms: expect.any(Number), queueMs: expect.any(Number) });
    expect(JSON.stringify(lines)).not.toContain("nobody");
  });

  it("has as much as its level says", async () => {
    const counts = [];
    for (const level of ["debug", "warn", "error"] as const) {
      const { log, lines } = logged(level);
      await run({ log });
      counts.push(lines.length);
    }
    expect(counts).toEqual([3, 1, 0]);
  });

  it("has what a defect was, which its answer has not", async () => {
    const { log, lines } = logged("error");
    const faulty = Object.create(runtime, { use: { value: () => Promise.reject(new TypeError("x is no function")) } }) as Runtime;
    const answer = await (await embed(createHandler(faulty, { log }), { input: "a" })).text();
    expect(lines).toMatchObject([{ code: "DEFECT", message: "x is no function", stack: expect.stringContaining("TypeError") }]);
    expect(answer).not.toContain("no function");
  });

  it("has what happens to models", () => {
    const { log, lines } = logged("info");
    log.event({ type: "failover", reference: "m", from: "onnx:cuda", reason: "it died" });
    log.event({ type: "unloaded", reference: "m", target: "onnx:cpu", why: "idle" });
    expect(lines).toMatchObject([
      { level: 40, msg: "failover", model: "m", from: "onnx:cuda", reason: "it died" },
      { level: 30, msg: "unloaded", model: "m", why: "idle" },
    ]);
  });
});

describe("GET /api/events", () => {
  it("tells of loads, unloads, failovers and downloads as they happen, and ends with the server", async () => {
    await runtime.unloadIdle();
    const handler = createHandler(runtime, { events });
    const response = await get(handler, "/api/events");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await embed(handler, { input: "a" });
    await runtime.unload("builtin");
    events.emit({ type: "failover", reference: "m", from: "onnx:cuda", reason: "/srv/private/lib.so died" });
    const place = { reference: "/srv/private/m", target: "onnx:cpu" };
    events.emit({ type: "died", ...place, reason: "/srv/private/lib.so aborted", deaths: 5, crashLoop: true, backoffMs: 60_000 });
    events.emit({ type: "restarted", ...place, why: "died", milliseconds: 80 });
    events.emit({ type: "load-failed", reference: "/srv/private/m", code: "MODEL_INVALID", reason: "/srv/private/m is cut off" });
    const progress = { reference: "hf:o/m", stage: "fetching", bytes: 1, bytesPerSecond: 1 } as const;
    for (let bytes = 0; bytes < 100; bytes += 1)
      events.emit({ type: "download", reference: "hf:o/m", progress: { ...progress, bytes } });
    events.emit({ type: "download", reference: "hf:o/m", progress: { ...progress, stage: "done" } });
    handler.service.drain();
    const text = await response.text();
    const data = text
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)) as unknown);
    expect(data).toMatchObject([
      { type: "loading", model: "builtin", target: "native:cpu", bytes: expect.any(Number) },
      { type: "loaded", model: "builtin", target: "native:cpu", decision: expect.any(String) },
      { type: "unloaded", model: "builtin", why: "unloaded" },
      { type: "failover", from: "onnx:cuda", reason: "lib.so died" },
      { type: "died", model: "m", target: "onnx:cpu", reason: "lib.so aborted", deaths: 5, crashLoop: true, backoffMs: 60_000 },
      { type: "restarted", model: "m", target: "onnx:cpu", why: "died", milliseconds: 80 },
      { type: "load-failed", model: "m", code: "MODEL_INVALID", reason: "m is cut off" },
      { type: "download", model: "hf:o/m", stage: "fetching" },
      { type: "download", stage: "done" },
    ]);
    expect((await get(handler, "/api/events")).status).toBe(503);
  });

  it("lets go of a client that reads nothing, and of one that leaves", async () => {
    const own = new RuntimeEvents();
    const handler = createHandler(runtime, { events: own });
    const slow = await get(handler, "/api/events");
    const leaver = await get(handler, "/api/events");
    await leaver.body!.cancel();
    for (let index = 0; index < 3000; index += 1) own.emit({ type: "failover", reference: "m", from: "x", reason: "y" });
    const lines = (await slow.text()).split("\n").filter((line) => line.startsWith("data: "));
    expect(lines.length).toBeLessThan(1100);
  });
});
