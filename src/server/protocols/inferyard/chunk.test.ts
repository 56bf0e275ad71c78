import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../../api/create-runtime.ts";
import type { Runtime } from "../../../api/runtime.ts";
import { type Handler, createHandler } from "../../handler.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

describe("POST /api/chunk", () => {
  const chunk = async (handler: Handler, config: object, headers: Record<string, string> = {}) => {
    const response = await handler(
      new Request("http://localhost/api/chunk", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ input: "One. Two.", config }),
      }),
    );
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  it("loads no model for strategies that run none, and says where it ran for the others", async () => {
    await runtime.unload("builtin");
    const handler = createHandler(runtime);
    const fixed = await chunk(handler, { target_tokens: 2 });
    expect(fixed).toMatchObject({ status: 200, body: { model: "builtin", chunks: [{ text: "One. " }, { text: "Two." }] } });
    expect(fixed.headers.get("x-inferyard-target")).toBeNull();
    expect(runtime.memory().models).toEqual([]);
    const metrics = await (await handler(new Request("http://localhost/metrics"))).text();
    expect(metrics).toContain('inferyard_requests_total{route="post_api_chunk",model="builtin",code="200"} 1');
    const semantic = await chunk(handler, { strategy: "semantic" });
    expect([semantic.status, semantic.headers.get("x-inferyard-target")]).toEqual([200, "native:cpu"]);
    expect(runtime.memory().models.length).toBe(1);
  });

  it("needs no model for fixed, and refuses a target that would mean nothing", async () => {
    const handler = createHandler(runtime, { defaultModel: "/nowhere/at/all" });
    expect(await chunk(handler, { model: "fixed" })).toMatchObject({ status: 200, body: { model: "builtin" } });
    expect((await chunk(handler, {})).status).toBe(404);
    const placed = await chunk(handler, { model: "fixed" }, { "x-inferyard-target": "require=native:cpu" });
    expect(placed).toMatchObject({ status: 400, body: { error: { code: "INPUT_INVALID" } } });
  });
});
