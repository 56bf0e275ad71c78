/** What requests may name, and what a GET does: nothing is fetched or loaded for a page or a stranger. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { Runtime } from "../../api/runtime.ts";
import { type ConnectionInfo, type Handler, createHandler } from "../handler.ts";

const key = "the-key-of-the-operator";
const sha256 = createHash("sha256").update(key).digest("hex");

let runtime: Runtime;
let stranger: Server;
let asked: string[];
let address: string;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
  stranger = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(302, { location: "file:///etc/passwd" }).end();
  }).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/model.onnx#sha256:${"0".repeat(64)}`;
});
afterAll(async () => {
  stranger.close();
  await runtime.dispose();
});

const local: ConnectionInfo = { remoteAddress: "127.0.0.1", listenAddress: "127.0.0.1", httpVersion: "1.1" };

function post(path: string, body: object, headers: Record<string, string> = {}): Request {
  const all = { "content-type": "application/json", host: "localhost", ...headers };
  return new Request(`http://localhost${path}`, { method: "POST", headers: all, body: JSON.stringify(body) });
}
const get = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`http://localhost${path}`, { headers: { host: "localhost", ...headers } });

/** Every way in which a request names a model. */
function waysIn(name: string): Request[] {
  const [once, twice] = [encodeURIComponent(name), encodeURIComponent(encodeURIComponent(name))];
  const tensor = { inputs: [{ name: "text", datatype: "BYTES", shape: [1], data: ["a"] }] };
  return [
    post("/api/embed", { input: "a", model: name }),
    post("/api/embed", { input: "a", model: `${name}@native:cpu` }),
    post("/api/classify", { texts: ["a"], model: name }),
    post("/api/recognize", { texts: ["a"], model: name }),
    post("/api/rerank", { query: "a", prompts: ["b"], model: name }),
    post("/api/chunk", { input: "a", config: { model: name } }),
    post("/api/chunk", { input: "a", config: { model: name, strategy: "late" } }),
    post("/v1/embeddings", { input: "a", model: name }),
    post("/v1/rerank", { query: "a", documents: ["b"], model: name }),
    post("/v2/rerank", { query: "a", documents: ["b"], model: name }),
    post("/embed", { inputs: "a" }, { "x-inferyard-model": name }),
    post("/tokenize", { inputs: "a" }, { "x-inferyard-model": name }),
    post("/api/explain", { model: name }),
    get(`/api/explain?model=${once}`),
    get("/info", { "x-inferyard-model": name }),
    ...[once, twice].flatMap((written) => [
      post(`/v2/models/${written}/infer`, tensor),
      post(`/v2/models/${written}/versions/1/infer`, tensor),
      post(`/v2/repository/models/${written}/load`, {}),
      post(`/v2/repository/models/${written}/unload`, {}),
      post(`/api/models/${written}/load`, {}),
      post(`/api/models/${written}/load?wait=false`, {}),
      post(`/api/models/${written}/unload`, {}),
      get(`/api/models/${written}/decision`),
      get(`/v1/models/${written}`),
      get(`/v2/models/${written}`),
      get(`/v2/models/${written}/versions/1`),
      get(`/v2/models/${written}/ready`),
    ]),
  ];
}

describe("a model that is no name of the server", () => {
  it.each([
    ["an address", () => address],
    ["a repository", () => "hf:sentence-transformers/all-MiniLM-L6-v2"],
    ["a path", () => `${process.cwd()}/builtin`],
    ["a path from here", () => "./builtin"],
    ["a path from home", () => "~/model.onnx"],
    ["an address of a file", () => `file://${process.cwd()}/builtin`],
  ])("is not found without a key, whoever asks and however it is written: %s", async (_what, reference) => {
    asked = [];
    const handler = createHandler(runtime);
    for (const request of waysIn(reference())) {
      const { method, url } = request;
      const answer = await handler(request, local);
      expect([method, url, answer.status]).toEqual([method, url, 404]);
    }
    expect(asked).toEqual([]);
    expect(runtime.memory().models).toEqual([]);
  });

  it("says what to do, and is taken with the key of an admin alone", async () => {
    asked = [];
    const keys = [
      { name: "app", sha256: createHash("sha256").update("another").digest("hex"), role: "reader" },
      { name: "operator", sha256, role: "admin" },
    ] as const;
    const answerOf = async (handler: Handler, headers: Record<string, string>): Promise<string> =>
      (await handler(post("/api/embed", { input: "a", model: address }, headers), local)).text();
    const [open, closed] = [createHandler(runtime), createHandler(runtime, { keys })];
    for (const answer of [await answerOf(open, {}), await answerOf(closed, { "x-api-key": "another" })]) {
      expect(answer).toContain("server.models");
      expect(answer).toContain("role is admin");
    }
    expect(asked).toEqual([]);
    expect(await answerOf(closed, { "x-api-key": key })).toContain("DOWNLOAD_FAILED");
    expect(asked).toEqual(["/model.onnx"]);
  });
});

describe("GET", () => {
  it("loads and fetches nothing, on any route of the document", async () => {
    asked = [];
    const own = await createRuntime({ host: "inline", threads: 1 });
    try {
      const models = { remote: address, other: "builtin" };
      const handler = createHandler(own, { models, keys: [{ name: "operator", sha256, role: "admin" }] });
      const { paths } = (await (await handler(get("/openapi.json"))).json()) as { paths: Record<string, object> };
      const routes = Object.entries(paths).flatMap(([path, methods]) => ("get" in methods ? [path] : []));
      expect(routes.length).toBeGreaterThan(15);
      const waits = new Set(["/api/events", "/health/ready", "/v2/health/ready"]); // a stream; the probes of the server's own models
      for (const route of routes.filter((path) => !waits.has(path))) {
        for (const model of ["builtin", "other", "remote", encodeURIComponent(address)]) {
          const path = route.replace(/\{(?:model|name)\}/, model).replace("{version}", "1");
          const answer = await handler(get(`${path}?model=${model}`, { "x-api-key": key, "x-inferyard-model": "other" }), local);
          // 501: this handler has no folder for files
          expect([path, answer.status < 500 || [501, 503].includes(answer.status)]).toEqual([path, true]);
          await answer.text();
        }
      }
      expect(own.memory().models).toEqual([]);
      expect(asked).toEqual([]);
    } finally {
      await own.dispose();
    }
  });
});
