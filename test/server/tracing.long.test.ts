/** The built command `serve` and a collector of traces, as OpenTelemetry's variables name it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it, vi } from "vitest";
import { ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";

interface SpanJson {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
interface TracesJson {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanJson[] }[];
  }[];
}

const servers = new ServerProcesses();
const received: { readonly path: string; readonly body: TracesJson }[] = [];
const collector = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => (text += String(chunk)));
  request.on("end", () => {
    received.push({ path: request.url!, body: JSON.parse(text) as TracesJson });
    response.setHeader("content-type", "application/json").end("{}");
  });
});
afterAll(() => {
  vi.unstubAllEnvs();
  servers.killAll();
  servers.remove();
  collector.close();
});

it("sends what it has traced, the last of it when it ends", async () => {
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${(collector.address() as AddressInfo).port}`);
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
  vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "600000"); // nothing is sent before the end
  const server = await servers.serve([]);
  await ready(server);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  expect((await embed(server, { input: "a private text" }, { traceparent })).status).toBe(200);
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
  expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
  const [first] = received.flatMap(({ body }) => body.resourceSpans);
  expect(first!.resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "inferyard" } });
  const spans = received
    .flatMap(({ body }) => body.resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const ours = spans.filter(({ traceId }) => traceId === "0af7651916cd43dd8448eb211c80319c");
  expect(ours.map(({ name }) => name)).toEqual(expect.arrayContaining(["POST /api/embed", "queue", "embeddings builtin"]));
  expect(JSON.stringify(received)).not.toContain("private");
});
