/** Streams of all protocols: their headers, log lines and metrics name the model, the target and the decision, as those of whole answers do. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRuntime } from "../../src/api/create-runtime.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { type Handler, createHandler } from "../../src/server/handler.ts";
import { createLog } from "../../src/server/observability/log.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("streams of the server");
const messages = [{ role: "user", content: "Hello world!" }];
const chat = { model: "qwen", messages, stream: true };
const text = { model: "qwen", prompt: "Hello", stream: true };

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  let handler: Handler;
  let lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1, target: "onnx" });
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    handler = createHandler(runtime, {
      models: { qwen: `${sharedData}tiny-random-qwen2` },
      log: createLog({ level: "info", stream: { write } }),
    });
  });
  afterAll(() => runtime.dispose());

  const ask = (path: string, body: object, signal?: AbortSignal): Promise<Response> =>
    handler(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-inferyard-model": "qwen" },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    );

  const streams: readonly (readonly [path: string, body: object])[] = [
    ["/v1/chat/completions", { ...chat, max_tokens: 3 }],
    ["/v1/completions", { ...text, max_tokens: 3 }],
    ["/v1/responses", { model: "qwen", input: "Hello", max_output_tokens: 3, stream: true }],
    ["/v1/messages", { ...chat, max_tokens: 3 }],
    ["/api/chat", { ...chat, options: { num_predict: 3 } }],
    ["/api/generate", { ...text, options: { num_predict: 3 } }],
    ["/completion", { ...text, n_predict: 3 }],
    ["/generate_stream", { inputs: "Hello", parameters: { max_new_tokens: 3 } }],
    ["/models/qwen", { inputs: "Hello", parameters: { max_new_tokens: 3 }, stream: true }],
    ["/api/v0/chat/completions", { ...chat, max_tokens: 3 }],
  ];

  it.each(streams)("%s: before the first byte, in the log and in the metrics", async (path, body) => {
    lines = [];
    const response = await ask(path, body);
    const decision = response.headers.get("x-inferyard-decision");
    expect([response.status, response.headers.get("x-inferyard-target")]).toEqual([200, "onnx:cpu"]);
    expect((await runtime.loaded()).map(({ id }) => id)).toContain(decision);
    await response.text();
    const request = await vi.waitFor(() => {
      const found = lines.find(({ msg }) => msg === "request");
      expect(found).toBeDefined();
      return found;
    });
    expect(request).toMatchObject({ model: "qwen", target: "onnx:cpu", decision, tokens: expect.any(Number), status: 200 });
    const metrics = await (await handler(new Request("http://localhost/metrics"))).text();
    const counted = metrics.split("\n").filter((line) => line.startsWith('inferyard_requests_total{route="post_'));
    expect(counted.filter((line) => line.includes('model=""'))).toEqual([]);
    expect(counted.length).toBeGreaterThan(0);
  });

  it("one that its client leaves is logged when it has ended, with its model", async () => {
    lines = [];
    const leave = new AbortController();
    const response = await ask("/v1/chat/completions", { ...chat, ignore_eos: true }, leave.signal);
    const reader = response.body!.getReader();
    await reader.read();
    expect(lines.filter(({ msg }) => msg === "request")).toEqual([]);
    leave.abort();
    await reader.cancel().catch(() => {});
    await vi.waitFor(() =>
      expect(lines.find(({ msg }) => msg === "request")).toMatchObject({
        level: 30,
        model: "qwen",
        target: "onnx:cpu",
        code: "ABORTED",
      }),
    );
  });
});
