import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { type Handler, type HandlerOptions, createHandler } from "./handler.ts";
import { handlerOf } from "../../test/server/fixtures/handler-of.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

const handlerWith = (options: HandlerOptions = {}): Handler => handlerOf(runtime, options);

function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: text,
  });
}

describe("POST /api/embed", () => {
  it("gives the library's vectors, and says where and why they were computed there", async () => {
    const response = await handlerWith()(post("/api/embed", { input: ["a cat", "a dog"] }));
    const { embeddings, target } = await runtime.embed(["a cat", "a dog"]);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-inferyard-target")).toBe(target);
    expect(response.headers.get("x-inferyard-decision")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("server-timing")).toMatch(/^queue;dur=[\d.]+, inference;dur=[\d.]+$/);
    expect(await response.json()).toMatchObject({
      model: "builtin",
      dimensions: 256,
      embeddings: embeddings.map((vector) => [...vector]),
    });
  });

  it("gives one block of numbers where that is asked for", async () => {
    const headers = { accept: "application/octet-stream" };
    const response = await handlerWith()(post("/api/embed", { input: ["a cat", "a dog"], dimensions: 3 }, headers));
    const view = new DataView(await response.arrayBuffer());
    expect([view.getBigUint64(0, true), view.getBigUint64(8, true), view.byteLength]).toEqual([2n, 3n, 16 + 24]);
    const { embeddings } = await runtime.embed("a dog", { dimensions: 3 });
    expect([28, 32, 36].map((offset) => view.getFloat32(offset, true))).toEqual([...embeddings[0]!]);
  });

  it("takes Termite's content parts and its truncate", async () => {
    const { embeddings } = await runtime.embed(["a cat", "a dog"]);
    const parts = ["a cat", "a dog"].map((text) => ({ type: "text", text }));
    const response = await handlerWith()(post("/api/embed", { input: parts, truncate: true }));
    expect(await response.json()).toMatchObject({ embeddings: embeddings.map((vector) => [...vector]) });
    const long = await handlerWith()(post("/api/embed", { input: "word ".repeat(600), truncate: false }));
    expect([long.status, await long.json()]).toMatchObject([413, { error: { code: "INPUT_TOO_LONG" } }]);
  });

  it.each([
    ["a body that is no JSON", "{", 400, "INPUT_INVALID"],
    ["a text that is none", { input: 3 }, 400, "INPUT_INVALID"],
    ["no input", {}, 400, "INPUT_INVALID"],
    ["an option that is not known", { input: "a", normalise: true }, 400, "INPUT_INVALID"],
    ["a part that is no text", { input: [{ type: "image_url", image_url: { url: "a" } }] }, 400, "INPUT_INVALID"],
    ["a model that is not there", { input: "a", model: "nothing" }, 404, "MODEL_NOT_FOUND"],
    ["a target that cannot run it", { input: "a", model: "builtin@wasm:cpu" }, 503, "BACKEND_UNAVAILABLE"],
    ["more dimensions than there are", { input: "a", dimensions: 1000 }, 400, "INPUT_INVALID"],
  ])("%s is told by a code, with nothing of this machine in it", async (_what, body, status, code) => {
    const response = await handlerWith()(post("/api/embed", body));
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: { code, retryable: false, request_id: expect.any(String) } });
    expect(response.status).toBe(status);
    expect(text).not.toMatch(/node_modules|\.ts:|\/src\//);
  });

  it("refuses what is too much at once: texts, bytes", async () => {
    const handler = handlerWith({ maxTexts: 2, maxBodyBytes: 200 });
    const many = await handler(post("/api/embed", { input: ["a", "b", "c"] }));
    expect([many.status, await many.json()]).toMatchObject([413, { error: { code: "LIMIT_EXCEEDED" } }]);
    const large = await handler(post("/api/embed", { input: "a".repeat(300) }));
    expect([large.status, await large.json()]).toMatchObject([413, { error: { code: "LIMIT_EXCEEDED" } }]);
  });

  it("takes nothing new once it drains", async () => {
    const handler = createHandler(runtime);
    handler.service.drain();
    const response = await handler(post("/api/embed", { input: "a" }));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ error: { code: "SHUTTING_DOWN", retryable: true } });
  });
});

describe("requestTimeout", () => {
  it("ends a request that takes longer, and leaves no timer behind one that was answered", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const slow = handlerWith({ requestTimeout: "1ms", maxConcurrentRequests: 1 });
    let release = (): void => {};
    const caller = { client: "a", role: "admin", priority: "normal", signal: new AbortController().signal } as const;
    const patient = handlerWith({ maxConcurrentRequests: 1 });
    const before = timers();
    for (let request = 0; request < 5; request += 1) expect((await patient(post("/api/embed", { input: "a" }))).status).toBe(200);
    expect(timers()).toBeLessThanOrEqual(before + 1); // the model's own keepAlive
    const held = slow.service.admission.run(caller, () => new Promise<void>((resolve) => (release = resolve)));
    const late = await slow(post("/api/embed", { input: "a" }));
    expect([late.status, await late.json()]).toMatchObject([504, { error: { code: "REQUEST_TIMEOUT", retryable: true } }]);
    release();
    await held;
  });
});

describe("the document", () => {
  it("describes the routes", async () => {
    const response = await handlerWith()(new Request("http://localhost/openapi.json"));
    expect(await response.json()).toMatchObject({ openapi: "3.1.0", paths: { "/api/embed": { post: {} } } });
  });

  it.each(["3.0", "3.1"])("%s shares error responses between routes, and every reference leads somewhere", async (version) => {
    const response = await handlerWith()(new Request(`http://localhost/openapi.json?version=${version}`));
    const text = await response.text();
    const { components, paths } = JSON.parse(text) as {
      components: Record<string, Record<string, object>>;
      paths: Record<string, Record<string, { responses: Record<string, object> }>>;
    };
    const references = text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g);
    const missing = [...references].filter(([, kind = "", name = ""]) => components[kind]?.[name] === undefined);
    expect(missing).toEqual([]);
    expect(components["responses"]).toHaveProperty("OpenAIError404.description", "There is no such model");
    const ownErrors = Object.entries(paths).filter(([, methods]) =>
      Object.values(methods)
        .flatMap(({ responses }) => Object.entries(responses))
        .some(([status, error]) => Number(status) >= 400 && !("$ref" in error)),
    );
    expect(ownErrors.map(([path]) => path).filter((path) => !/^\/health|\/ready$/.test(path))).toEqual([]);
  });
});

describe("the default model", () => {
  it("has the variant that was asked for, and is refused where there is none of that name", async () => {
    const right = await handlerWith({ variant: "int4" })(post("/api/embed", { input: "a" }));
    expect(right.status).toBe(200);
    const wrong = await handlerWith({ variant: "fp16" })(post("/api/embed", { input: "a" }));
    expect([wrong.status, await wrong.json()]).toMatchObject([404, { error: { code: "MODEL_NOT_FOUND" } }]);
  });
});

describe("what HTTP clients expect of any server", () => {
  const ask = async (path: string, init: RequestInit = {}): Promise<[status: number, body: string, headers: Headers]> => {
    const response = await handlerWith()(new Request(`http://localhost${path}`, init));
    return [response.status, await response.text(), response.headers];
  };

  it.each([
    ["GET", "/api/embed", "POST, OPTIONS"],
    ["DELETE", "/v1/models/builtin", "GET, HEAD, OPTIONS"],
    ["PUT", "/api/explain", "GET, POST, HEAD, OPTIONS"],
    ["POST", "/metrics", "GET, HEAD, OPTIONS"],
    ["PATCH", "/v2/models/builtin/infer", "POST, OPTIONS"],
  ])("%s %s is refused with the methods there are, and OPTIONS tells them", async (method, path, allow) => {
    const [status, body, headers] = await ask(path, { method });
    expect([status, headers.get("allow")]).toEqual([405, allow]);
    expect(body.toUpperCase()).toContain("METHOD");
    const [options, none, told] = await ask(path, { method: "OPTIONS" });
    expect([options, none, told.get("allow")]).toEqual([204, "", allow]);
  });

  it.each(["/api/nothing", "/nothing", "/v1/nothing", "/v2/nothing"])(
    "%s is no route, which is not a model that is missing",
    async (path) => {
      const [status, body] = await ask(path, { method: "POST", body: "{}" });
      expect(status).toBe(404);
      expect(body).toMatch(/there is no route/);
      expect(body).not.toMatch(/model_not_found/i);
    },
  );

  it.each(["/api/embed/", "//api/embed", "/api//embed//", "/v1/embeddings/"])(
    "%s is the route without the slashes that matter not",
    async (path) => {
      const body = JSON.stringify({ input: "a cat", model: "builtin" });
      expect((await ask(path, { method: "POST", headers: { "content-type": "application/json" }, body }))[0]).toBe(200);
    },
  );

  it.each([{}, { "content-type": "application/x-www-form-urlencoded" }])(
    "JSON is taken where its type is not said, or is what curl says: %j",
    async (headers) => {
      const bytes = new TextEncoder().encode('{"input":"a cat","dimensions":3}');
      expect((await ask("/api/embed", { method: "POST", headers, body: bytes }))[1]).toContain("embeddings");
      const [status, text] = await ask("/api/embed", { method: "POST", headers, body: new TextEncoder().encode("input=a") });
      expect([status, text]).toEqual([400, expect.stringContaining("INPUT_INVALID")]);
    },
  );

  it("every route of the document has a name of its own", async () => {
    const [, body] = await ask("/openapi.json");
    const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, { operationId?: string }>> };
    const names = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(names).toContain("post_v2_models_model_infer");
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name ?? ""))).toEqual([]);
  });
});

it("GET /openapi.json has the version that is asked for", async () => {
  const document = async (query: string): Promise<{ status: number; text: string; openapi?: string }> => {
    const response = await handlerWith()(new Request(`http://localhost/openapi.json${query}`));
    const text = await response.text();
    return { status: response.status, text, ...(JSON.parse(text) as { openapi?: string }) };
  };
  const [current, same, old] = [await document(""), await document("?version=3.1"), await document("?version=3.0")];
  expect([current.status, current.openapi, old.status, old.openapi]).toEqual([200, "3.1.0", 200, "3.0.3"]);
  expect(same.text).toBe(current.text);
  expect(current.text).not.toMatch(/"items":false|"additionalProperties":\{\}/);
  expect(old.text).not.toMatch(/"const":|"prefixItems":|"type":\[|"exclusiveMinimum":0|"webhooks"/);
  expect(old.text).toContain('"nullable":true');
  expect((await document("?version=2.0")).status).toBe(400);
});
