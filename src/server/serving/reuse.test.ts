/** What happens across requests, seen over HTTP. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { EmbedRequest, EmbedResult } from "../../api/task-requests.ts";
import type { Runtime } from "../../api/runtime.ts";
import { type Handler, type HandlerOptions, createHandler } from "../handler.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

/** On a busy machine a model takes its time to load. */
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 100_000 });
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** The runtime, whose embeddings are counted, and wait until they are let go. */
function watched(): { readonly runtime: Runtime; readonly signals: AbortSignal[]; hold(): void; release(): void } {
  const signals: AbortSignal[] = [];
  let gate = Promise.resolve();
  let open = (): void => {};
  onTestFinished(() => open());
  const embed = async (texts: readonly string[], request: EmbedRequest): Promise<EmbedResult> => {
    signals.push(request.signal!);
    await gate;
    return runtime.embed(texts, request);
  };
  const proxy = new Proxy(runtime, {
    get: (target, name) => {
      if (name === "embed") return embed;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  return { runtime: proxy, signals, hold: () => (gate = new Promise((resolve) => (open = resolve))), release: () => open() };
}

function embed(handler: Handler, body: object, init: RequestInit = {}, path = "/api/embed"): Promise<Response> {
  const headers = { "content-type": "application/json", ...(init.headers as Record<string, string>) };
  return handler(new Request(`http://localhost${path}`, { method: "POST", ...init, headers, body: JSON.stringify(body) }));
}

async function metric(handler: Handler, line: string): Promise<number> {
  const text = await (await handler(new Request("http://localhost/metrics"))).text();
  return Number(
    text
      .split("\n")
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length + 1) ?? 0,
  );
}

const timing = (response: Response): string => response.headers.get("server-timing")!;

describe("requests that ask the same at the same time", () => {
  it("are computed once, whatever their protocol, and each has the whole answer", async () => {
    const { runtime: counted, signals, hold, release } = watched();
    const handler = createHandler(counted, { models: { mine: "builtin" } });
    hold();
    const asked = [
      embed(handler, { input: ["a cat"], truncate: "error" }),
      embed(handler, { input: "a cat", truncate: "error", model: "mine" }),
      embed(handler, { input: "a cat", encoding_format: "float" }, {}, "/v1/embeddings"),
      embed(handler, { input: "a dog", truncate: "error" }),
      embed(handler, { input: "a cat", truncate: "error", dimensions: 3 }),
      embed(handler, { input: "a cat", truncate: "error" }, { headers: { "x-inferyard-target": "prefer=native:cpu" } }),
      embed(handler, { input: "a cat", truncate: "error" }, { headers: { "x-inferyard-priority": "high" } }),
    ];
    await eventually(() => expect(signals.length).toBe(5));
    await settled();
    expect(signals.length).toBe(5);
    release();
    const responses = await Promise.all(asked);
    const { embeddings } = await runtime.embed("a cat");
    const [first, second, third] = (await Promise.all(responses.map((response) => response.json()))) as [
      { model: string; embeddings: number[][] },
      { model: string; embeddings: number[][] },
      { data: { embedding: number[] }[]; usage: object },
    ];
    expect([first.embeddings, second.embeddings]).toEqual([[[...embeddings[0]!]], [[...embeddings[0]!]]]);
    expect([first.model, second.model]).toEqual(["builtin", "mine"]);
    expect(third).toMatchObject({ data: [{ embedding: [...embeddings[0]!] }], usage: { prompt_tokens: 2 } });
    expect(responses.map((response) => timing(response).endsWith(", shared"))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(await metric(handler, 'inferyard_responses_reused_total{model="mine",how="shared"}')).toBe(2);
    expect(await metric(handler, 'inferyard_tokens_total{model="mine"}')).toBe(10); // of five, and not of seven
  });

  it("lose nothing by one that leaves, and are cancelled when all have", async () => {
    const { runtime: counted, signals, hold, release } = watched();
    const handler = createHandler(counted, {});
    hold();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = embed(handler, { input: "x" }, { signal: one.signal });
    const second = embed(handler, { input: "x" }, { signal: two.signal });
    await eventually(() => expect(signals.length).toBe(1));
    one.abort();
    expect((await first).status).toBe(499);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    release();
    expect((await second).status).toBe(200);
    hold();
    const [three, four] = [new AbortController(), new AbortController()];
    const both = [three, four].map(({ signal }) => embed(handler, { input: "x" }, { signal }));
    await eventually(() => expect(signals.length).toBe(2));
    three.abort();
    four.abort();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([499, 499]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    release();
  });

  it("have each their own time", async () => {
    const { runtime: counted, hold, release } = watched();
    const models = { quick: { reference: "builtin", requestTimeout: 5 } };
    const handler = createHandler(counted, { models });
    await embed(handler, { input: "warm", model: "builtin" });
    hold();
    const late = await embed(handler, { input: "x" });
    expect([late.status, await late.json()]).toMatchObject([504, { error: { code: "REQUEST_TIMEOUT", message: /5 ms/ } }]);
    release();
  });
});

describe("resultCacheBytes", () => {
  const cached = (counted: Runtime, options: HandlerOptions = {}): Handler =>
    createHandler(counted, { resultCacheBytes: 1_000_000, ...options });

  it("gives an answer again without the model, and says so", async () => {
    const { runtime: counted, signals } = watched();
    const handler = cached(counted, { maxConcurrentRequests: 1, maxQueue: 0 });
    const first = await embed(handler, { input: "a cat" });
    const busy = handler.service.admission.run(
      { client: "b", priority: "normal", signal: new AbortController().signal },
      () => settled(), // all places are taken
    );
    const second = await embed(handler, { input: "a cat" });
    await busy;
    expect([timing(first), timing(second)]).toEqual([
      expect.not.stringContaining("cached"),
      "queue;dur=0.0, inference;dur=0.0, cached",
    ]);
    for (const header of ["x-inferyard-target", "x-inferyard-decision"])
      expect(second.headers.get(header)).toBe(first.headers.get(header));
    const [given, again] = (await Promise.all([first.json(), second.json()])) as Record<string, unknown>[];
    expect(again).toEqual({ ...given, total_duration: 0, load_duration: 0 });
    expect((await embed(handler, { input: "a cat", dimensions: 2 })).status).toBe(200);
    expect(signals.length).toBe(2);
    expect(await metric(handler, 'inferyard_responses_reused_total{model="builtin",how="cached"}')).toBe(1);
    expect(await metric(handler, "inferyard_result_cache_bytes")).toBeGreaterThan(1000);
    expect(await metric(handler, 'inferyard_inference_seconds_count{model="builtin",target="native:cpu"}')).toBe(2);
  });

  it("keeps nothing unless it is set, and no more than it may", async () => {
    for (const resultCacheBytes of [0, 500]) {
      const { runtime: counted, signals } = watched();
      const handler = cached(counted, { resultCacheBytes });
      for (let request = 0; request < 2; request += 1) await embed(handler, { input: "a cat" });
      expect([signals.length, handler.service.cache.bytes]).toEqual([2, 0]);
    }
  });

  it("has no answer of a model that was loaded anew, and none of a failure", async () => {
    const { runtime: counted, signals } = watched();
    const handler = cached(counted);
    await embed(handler, { input: "a cat" });
    await runtime.unload("builtin");
    expect(timing(await embed(handler, { input: "a cat" }))).not.toContain("cached");
    expect(timing(await embed(handler, { input: "a cat" }))).toContain("cached");
    expect(signals.length).toBe(2);
    for (let request = 0; request < 2; request += 1)
      expect((await embed(handler, { input: "a cat", dimensions: 9999 })).status).toBe(400);
    expect(signals.length).toBe(4);
  });

  it("has no answer of another target", async () => {
    const { runtime: counted, signals } = watched();
    const handler = cached(counted);
    const other = { headers: { "x-inferyard-target": "require=native:cpu" } };
    await embed(handler, { input: "a cat" });
    expect(timing(await embed(handler, { input: "a cat" }, other))).not.toContain("cached");
    expect(signals.length).toBe(2);
  });

  it("gives answers that a program may change", async () => {
    const { runtime: counted } = watched();
    const { service } = cached(counted);
    const caller = { client: "", role: "admin", priority: "normal", signal: new AbortController().signal } as const;
    const call = { model: "builtin", key: ["embed", "a cat"] as const };
    const ask = () => service.calls.run(caller, call, (model, signal) => counted.embed("a cat", { model, signal }));
    const [wanted] = (await runtime.embed("a cat")).embeddings;
    for (let request = 0; request < 3; request += 1) {
      const { result } = await ask();
      expect(result.embeddings[0]).toEqual(wanted);
      result.embeddings[0]!.fill(0);
    }
  });
});

describe("limits of single models", () => {
  it("hold besides those of all: one model's queue is full, and another's requests run", async () => {
    const { runtime: counted, signals, hold, release } = watched();
    const models = {
      slow: { reference: "builtin", maxConcurrentRequests: 1, maxQueue: 1 },
      other: { reference: "builtin@other", maxConcurrentRequests: 1 },
    };
    const handler = createHandler(counted, { models });
    hold();
    const asked = ["one", "two", "three"].map((input) => embed(handler, { input, model: "slow" }));
    await eventually(() => expect(signals.length).toBe(1));
    const refused = await embed(handler, { input: "four", model: "builtin" }); // the same model by another name
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: { code: "QUEUE_FULL", message: /for this model/ } },
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect([signals.length, handler.service.admission.waiting]).toEqual([1, 1]);
    expect((await embed(handler, { input: "x", model: "other" })).status).toBe(404); // it was not held up
    release();
    expect((await Promise.all(asked)).map(({ status }) => status).toSorted()).toEqual([200, 200, 429]);
  });

  it("are what /info tells of the default model", async () => {
    const handler = createHandler(runtime, { models: { builtin: { reference: "builtin", maxConcurrentRequests: 3 } } });
    const info = await handler(new Request("http://localhost/info"));
    expect(await info.json()).toMatchObject({ max_concurrent_requests: 3 });
  });

  it("are the model's: two names with different ones are refused", () => {
    const models = { a: { reference: "builtin", maxQueue: 1 }, b: { reference: "builtin", maxQueue: 2 } };
    expect(() => createHandler(runtime, { models })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => createHandler(runtime, { models: { ...models, b: "builtin" } })).not.toThrow();
  });
});
