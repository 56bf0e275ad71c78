/** `inferyard/client` against a server as users start it. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type BuildResult, build } from "esbuild";
import { createRuntime } from "inferyard";
import type * as ClientModule from "inferyard/client";
import { type Client, ServerError, type components, createClient, toVectors } from "inferyard/client";
import type { OpenAPI3 } from "openapi-typescript";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { clientTypes } from "../../scripts/generate/client-types.ts";
import { type ServerProcess, ServerProcesses, ready } from "../fixtures/processes/server-process.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const servers = new ServerProcesses();
let server: ServerProcess;
let client: Client;
/** A page of another origin than the server's. */
const site = { url: "", close: async (): Promise<unknown> => undefined };
const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

async function answering(handle: RequestListener): Promise<{ url: string; close: () => Promise<unknown> }> {
  const listening = createServer(handle);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return { url, close: () => new Promise((resolve) => listening.close(resolve)) };
}

beforeAll(async () => {
  const html = { "content-type": "text/html" };
  Object.assign(site, await answering((_request, response) => response.writeHead(200, html).end("<title>a page</title>")));
  const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");
  const keys = [
    { name: "app", sha256: sha256("the-key"), role: "reader" },
    { name: "slow", sha256: sha256("one-a-minute"), role: "reader", requestsPerMinute: 1 },
    { name: "operator", sha256: sha256("operators-key"), role: "admin" },
  ];
  server = await servers.serve([], { keys, cors: [site.url] });
  await ready(server);
  client = createClient({ url: server.url, key: "the-key" });
});
afterAll(async () => {
  await site.close();
  servers.killAll();
  servers.remove();
});

async function failureOf(promise: Promise<unknown>): Promise<ServerError> {
  const error = await promise.then(undefined, (thrown: unknown) => thrown);
  if (error instanceof ServerError) return error;
  throw new Error(`no refusal of the server: ${String(error)}`);
}

it("the types that the build makes are those of the OpenAPI document that a server answers", async () => {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenAPI3;
  const written = readFileSync(new URL("../../src/client/generated-openapi.ts", import.meta.url), "utf8");
  expect(written, "npm run client writes it").toBe(await clientTypes(document));
});

describe("what a call gives", () => {
  const texts = ["a cat sits on the mat", "ein Satz"];

  it("the library's vectors, as JSON and as bytes, and where they were computed", async () => {
    const runtime = await createRuntime({ host: "inline", threads: 1 });
    const { embeddings, dimensions, tokens } = await runtime.embed(texts);
    await runtime.dispose();
    const { data, response } = await client.post("/api/embed", { body: { input: texts } });
    expectTypeOf(data).toEqualTypeOf<components["schemas"]["EmbedResponse"]>();
    expect(data).toMatchObject({ model: "builtin", dimensions, tokens, embeddings: embeddings.map((vector) => [...vector]) });
    expect(response.headers.get("x-inferyard-target")).toBe("native:cpu");
    const bytes = await client.post("/api/embed", { body: { input: texts }, accept: "application/octet-stream" });
    expectTypeOf(bytes.data).toEqualTypeOf<ArrayBuffer>();
    expect(toVectors(bytes.data)).toEqual(embeddings);
  });

  it("every protocol's answers have their types", async () => {
    const openAi = await client.post("/v1/embeddings", { body: { model: "builtin", input: texts, dimensions: 3 } });
    expectTypeOf(openAi.data.usage.total_tokens).toEqualTypeOf<number>();
    expect(openAi.data.data.map(({ embedding }) => embedding.length)).toEqual([3, 3]);
    const ranked = await client.post("/v2/rerank", { body: { query: "a pet", documents: ["a car", "a cat"] } });
    expect(ranked.data.results[0]!.index).toBe(1);
    const tokens = await client.post("/tokenize", { body: { inputs: "a cat" }, headers: { "x-inferyard-model": "builtin" } });
    expect(tokens.data).toMatchObject([[{ text: "a" }, { text: "cat" }]]);
    const text = { name: "text", datatype: "BYTES" as const, shape: [1], data: ["a cat"] };
    const inferred = await client.post("/v2/models/{model}/infer", { path: { model: "builtin" }, body: { inputs: [text] } });
    expect(inferred.data.outputs[0]!.shape).toEqual([1, 256]);
  });

  it("paths and queries are filled in, and escaped", async () => {
    const { data } = await client.get("/api/explain", { query: { model: "builtin", prefer: "wasm:cpu" } });
    expect(data.candidates?.map(({ target }) => target)[0]).toBe("wasm:cpu");
    const operator = createClient({ url: `${server.url}/`, key: "operators-key" });
    const missing = await failureOf(operator.post("/api/models/{name}/load", { path: { name: "./a folder/of ß?x=1#y" } }));
    expect([missing.code, missing.message]).toEqual(["MODEL_NOT_FOUND", expect.stringContaining("ß?x=1#y")]);
    const loaded = await operator.post("/api/models/{name}/load", { path: { name: "builtin" } });
    expect(loaded.data).toMatchObject({ model: "builtin", target: "native:cpu" });
  });

  it("text, nothing, and a stream, where a route has those", async () => {
    const metrics = await client.get("/metrics");
    expectTypeOf(metrics.data).toEqualTypeOf<string>();
    expect(metrics.data).toContain("inferyard_requests_total");
    const operator = createClient({ url: `${server.url}/`, key: "operators-key" });
    const unloaded = await operator.post("/v2/repository/models/{model}/unload", { path: { model: "builtin" } });
    expectTypeOf(unloaded.data).toEqualTypeOf<undefined>();
    expect(unloaded.data).toBeUndefined();
    const leaving = new AbortController();
    const events = await client.get("/api/events", { signal: leaving.signal });
    expectTypeOf(events.data).toEqualTypeOf<ReadableStream<Uint8Array>>();
    const reading = events.data.getReader().read();
    leaving.abort();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
  });

  it("what a route does not take is no type", () => {
    const wrong = (): unknown[] => [
      // @ts-expect-error -- it needs a body
      client.post("/api/embed"),
      // @ts-expect-error -- of this shape
      client.post("/api/embed", { body: { texts } }),
      // @ts-expect-error -- it needs a name
      client.get("/api/models/{name}/decision"),
      // @ts-expect-error -- there is no such route
      client.get("/api/embed"),
      // @ts-expect-error -- there is no such form of the answer
      client.get("/api/models", { accept: "text/plain" }),
      // @ts-expect-error -- it has no query
      client.get("/api/models", { query: { a: "b" } }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});

describe("what a call throws", () => {
  it("the server's refusals, in the words of each protocol, with its body", async () => {
    const native = await failureOf(client.post("/api/embed", { body: { input: "a", model: "nothing" } }));
    expect(native).toMatchObject({
      name: "ServerError",
      status: 404,
      code: "MODEL_NOT_FOUND",
      retryable: false,
      retryAfterMs: undefined,
      remedy: expect.any(String),
      body: { error: { code: "MODEL_NOT_FOUND" } },
    });
    expect(native.message).toContain('there is no model "nothing"');
    expect(native.requestId).toMatch(/^[\w-]{36}$/);
    const openAi = await failureOf(client.post("/v1/embeddings", { body: { model: "builtin", input: [] } }));
    expect(openAi).toMatchObject({ status: 400, code: "input_invalid", body: { error: { param: "input" } } });
    const cohere = await failureOf(client.post("/v2/rerank", { body: { model: "nothing", query: "a", documents: ["b"] } }));
    expect(cohere).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND", message: expect.stringContaining("no model") });
    const tei = await failureOf(client.post("/embed", { body: { inputs: [] } }));
    expect(tei).toMatchObject({ status: 400, body: { error_type: "Empty" }, message: expect.stringContaining("empty") });
    const kserve = await failureOf(client.get("/v2/models/{model}", { path: { model: "nothing" } }));
    expect(kserve).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND", message: expect.stringContaining("no model") });
    const unread = await failureOf(client.post("/api/transcribe", { body: { model: "builtin", audio: "UklGRg==" } }));
    expect(unread).toMatchObject({ status: 422, code: "MODEL_UNSUPPORTED" });
  });

  it("keys: none, a wrong one, one that may not do this, and one that asks too often", async () => {
    const asking = (key?: string): Client => createClient({ url: server.url, ...(key === undefined ? {} : { key }) });
    for (const key of [undefined, "another"])
      expect(await failureOf(asking(key).get("/api/models"))).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
    const forbidden = client.post("/api/models/{name}/unload", { path: { name: "builtin" } });
    expect(await failureOf(forbidden)).toMatchObject({ status: 403, code: "FORBIDDEN" });
    await asking("one-a-minute").get("/api/models");
    const again = await failureOf(asking("one-a-minute").get("/api/models"));
    expect(again).toMatchObject({ status: 429, code: "RATE_LIMITED", retryable: true });
    expect(again.retryAfterMs).toBeGreaterThan(50_000);
  });

  it("what is no answer of the server's: a page of a proxy, and nobody there", async () => {
    const bodies = ["<h1>Bad gateway</h1>", "null", '{"error":null}', '{"error":"gone"}', "[]"];
    const { url, close } = await answering((_request, response) =>
      response.writeHead(503, { "retry-after": "7", connection: "close" }).end(bodies.shift()),
    );
    const messages = [];
    while (bodies.length > 0) {
      const error = await failureOf(createClient({ url }).get("/api/models"));
      expect(error).toMatchObject({ status: 503, code: undefined, retryable: true, retryAfterMs: 7000 });
      messages.push(error.message);
    }
    const plain = "the server answered 503";
    expect(messages).toEqual([plain, plain, plain, "gone", plain]);
    await close();
    await expect(createClient({ url }).get("/api/models")).rejects.toThrow(TypeError);
  });

  it("a call that is given up ends with the signal's reason, before and while it runs", async () => {
    const input = Array.from({ length: 4000 }, (_value, index) => `the text number ${index}`);
    await expect(client.post("/api/embed", { body: { input }, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    const hurry = client.post("/api/embed", { body: { input }, signal: AbortSignal.timeout(20) });
    await expect(hurry).rejects.toMatchObject({ name: "TimeoutError" });
    expect((await client.post("/api/embed", { body: { input: "a" } })).data.embeddings.length).toBe(1);
  });
});

describe("in a page", () => {
  const bundle = async (): Promise<BuildResult<{ write: false; metafile: true }>> =>
    build({
      stdin: { contents: 'export * from "inferyard/client"', resolveDir: repository },
      bundle: true,
      write: false,
      minify: true,
      metafile: true,
      format: "iife",
      globalName: "inferyard",
      platform: "browser",
    });

  it("is small: nothing of Node.js is in it, and nothing of the rest of the package", async () => {
    const { outputFiles, metafile } = await bundle();
    expect(outputFiles[0]!.contents.length).toBeLessThan(4000);
    const outside = Object.keys(metafile.inputs).filter((path) => path !== "<stdin>" && path !== "dist/client.js");
    expect(outside).toEqual([]);
  });

  it.skipIf(chromiumPath === undefined)(
    `works from another origin that cors names${chromiumPath === undefined ? " (skipped: no Chromium here; apt-get install chromium)" : ""}`,
    async () => {
      const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
      const browser = await chromium.launch({ executablePath: chromiumPath!, args });
      try {
        const page = await browser.newPage();
        await page.goto(site.url);
        await page.addScriptTag({ content: (await bundle()).outputFiles[0]!.text });
        const found = await page.evaluate(async (url) => {
          const { createClient, toVectors, ServerError } = (globalThis as unknown as { inferyard: typeof ClientModule })
            .inferyard;
          const client = createClient({ url, key: "the-key" });
          const headers = { "x-inferyard-target": "require=native:cpu" };
          const { data, response } = await client.post("/api/embed", { body: { input: "a cat" }, headers });
          const bytes = await client.post("/api/embed", { body: { input: "a cat" }, accept: "application/octet-stream" });
          const failed = await client.get("/v1/models/{model}", { path: { model: "nothing" } }).catch((error: unknown) => error);
          return {
            same: JSON.stringify([...toVectors(bytes.data)[0]!]) === JSON.stringify(data.embeddings[0]),
            target: response.headers.get("x-inferyard-target"),
            code: failed instanceof ServerError ? failed.code : String(failed),
          };
        }, server.url);
        expect(found).toEqual({ same: true, target: "native:cpu", code: "model_not_found" });
      } finally {
        await browser.close();
      }
    },
  );
});
