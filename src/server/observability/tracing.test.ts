import { node, tracing } from "@opentelemetry/sdk-node";
import { SpanStatusCode, context, propagation, trace } from "@opentelemetry/api";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { Runtime } from "../../api/runtime.ts";
import { createHandler } from "../handler.ts";

const exporter = new tracing.InMemorySpanExporter();
beforeAll(() => new node.NodeTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] }).register());
afterAll(() => {
  for (const api of [trace, context, propagation]) api.disable();
});

const text = "nobody may read this text";
let runtime: Runtime;
let handler: ReturnType<typeof createHandler>;
beforeEach(async () => {
  exporter.reset();
  runtime = await createRuntime({ host: "inline", threads: 1 });
  handler = createHandler(runtime, { resultCacheBytes: 100_000 });
});
afterEach(() => runtime.dispose());

function handled(body: object, headers: Record<string, string> = {}) {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  return handler(new Request("http://localhost/v1/embeddings", init));
}

const spans = () => Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));

it("tells of a request, its waiting, its load and its run, below the caller's span, and no text", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await handled({ input: text }, { traceparent });
  const { "POST /v1/embeddings": request, queue, load, "embeddings builtin": inference } = spans();
  expect(request!.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/v1/embeddings",
    "http.response.status_code": 200,
    "url.path": "/v1/embeddings",
    "url.scheme": "http",
    "server.address": "localhost",
  });
  expect(request!.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(request!.parentSpanContext!.spanId).toBe("b7ad6b7169203331");
  for (const child of [queue, load, inference]) expect(child!.parentSpanContext!.spanId).toBe(request!.spanContext().spanId);
  expect(inference!.attributes).toEqual({
    "gen_ai.operation.name": "embeddings",
    "gen_ai.provider.name": "inferyard",
    "gen_ai.request.model": "builtin",
    "gen_ai.usage.input_tokens": 5,
    "inferyard.target": "native:cpu",
  });
  const at = ([seconds, nanos]: readonly number[]): number => seconds! * 1e3 + nanos! / 1e6;
  // Times of spans are of two clocks, which differ by up to 2 ms.
  expect(at(queue!.endTime)).toBeLessThanOrEqual(at(load!.startTime) + 2);
  expect(at(load!.endTime)).toBeLessThanOrEqual(at(inference!.startTime) + 2);
  expect(at(inference!.endTime)).toBeLessThanOrEqual(at(request!.endTime) + 2);
  expect(
    JSON.stringify(exporter.getFinishedSpans().map(({ name, attributes, events }) => [name, attributes, events])),
  ).not.toContain("nobody");
});

it("has no load for a model in memory, nothing below an answer that was kept, and the code of a failure", async () => {
  await handled({ input: "a" });
  exporter.reset();
  await handled({ input: "b" });
  expect(Object.keys(spans()).toSorted()).toEqual(["POST /v1/embeddings", "embeddings builtin", "queue"]);
  exporter.reset();
  await handled({ input: "b" });
  expect(Object.keys(spans())).toEqual(["POST /v1/embeddings"]);
  exporter.reset();
  await handled({ input: text, dimensions: 9999 });
  const { "POST /v1/embeddings": request, "embeddings builtin": inference } = spans();
  expect(request!.attributes).toMatchObject({ "error.type": "INPUT_INVALID", "http.response.status_code": 400 });
  expect(inference!.status.code).toBe(SpanStatusCode.ERROR);
});

it("is a child of the span that the program has begun", async () => {
  await trace.getTracer("host").startActiveSpan("host", async (host) => {
    await handled({ input: "c" });
    host.end();
  });
  const { host, "POST /v1/embeddings": request } = spans();
  expect(request!.parentSpanContext!.spanId).toBe(host!.spanContext().spanId);
});
