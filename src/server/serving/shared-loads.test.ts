/** Clients that ask for one model in ever new ways. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { Runtime } from "../../api/runtime.ts";
import { createHandler } from "../handler.ts";

const events: RuntimeEvent[] = [];
let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1, onEvent: (event) => events.push(event) })));
afterAll(() => runtime.dispose());

it("however a target is preferred or required, a model is loaded once on it, and a request past its limit is told when to come again", async () => {
  const handler = createHandler(runtime, { loadsPerMinute: 1 });
  const constraints = [
    ..."native;native,native;native:cpu;NATIVE:CPU;native:auto;native:cpu:0;native,wasm;wasm,native;onnx:cuda:1,native".split(
      ";",
    ),
    ...Array.from({ length: 30 }, (_value, index) => `native:cuda:${index}`),
  ].map((list) => `prefer=${list}`);
  const reader = { remoteAddress: "10.0.0.7" };
  const ask = (target: string, model = "builtin"): Promise<Response> => {
    const headers = { "content-type": "application/json", "x-inferyard-target": target };
    const body = JSON.stringify({ input: "a", model });
    return handler(new Request("http://localhost/api/embed", { method: "POST", headers, body }), reader);
  };
  const answers = await Promise.all([...constraints, "require=native", "require=wasm,native"].map((target) => ask(target)));
  const suffixed = await ask("prefer=native", "builtin@native:cpu");
  for (const answer of [...answers, suffixed]) {
    expect([answer.status, answer.headers.get("x-inferyard-target")]).toEqual([200, "native:cpu"]);
  }
  expect(events.filter(({ type }) => type === "loading").length).toBe(1);
  expect(runtime.memory().models.length).toBe(1);
  await runtime.unloadIdle();
  const refused = await ask("prefer=native");
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED", retryable: true } });
});
