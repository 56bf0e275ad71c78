import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRuntime } from "../../api/create-runtime.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Runtime } from "../../api/runtime.ts";
import { Readiness } from "./readiness.ts";
import { type Handler, createHandler } from "../handler.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

async function ready(handler: Handler): Promise<unknown[]> {
  const response = await handler(new Request("http://localhost/health/ready"));
  return [response.status, await response.json()];
}

/** The runtime, with another way to use its models. */
function withUse(use: Runtime["use"]): Runtime {
  return Object.create(runtime, {
    use: { value: use },
    memory: { value: () => runtime.memory() },
    manifest: { value: runtime.manifest.bind(runtime) },
  }) as Runtime;
}

describe("GET /health/ready", () => {
  it("is ready when a probe has run on the server's own models, whatever others there are", async () => {
    const handler = createHandler(runtime, { models: { lazy: "./nothing-here" } });
    await handler.readiness.warmUp();
    expect((await runtime.loaded()).map(({ model }) => model.reference)).toEqual(["builtin"]);
    expect(await ready(handler)).toEqual([200, { ready: true, draining: false, models: [{ model: "builtin", ready: true }] }]);
  });

  it("is not while one of them cannot run, and says why", async () => {
    const handler = createHandler(runtime, { models: { broken: "./nothing-here" }, preload: ["broken"] });
    await expect(handler.readiness.warmUp()).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(await ready(handler)).toMatchObject([
      503,
      { ready: false, models: [{ model: "builtin" }, { model: "broken", ready: false, code: "MODEL_NOT_FOUND" }] },
    ]);
  });

  it("says of a path its last part: probes carry no key", async () => {
    const [status, report] = await ready(createHandler(runtime, { defaultModel: "/srv/private/minilm" }));
    expect([status, report]).toMatchObject([503, { models: [{ model: "minilm", code: "MODEL_NOT_FOUND" }] }]);
    expect(JSON.stringify(report)).not.toContain("private");
  });

  it("is not while they load: who asks gets an answer at once", async () => {
    const loading = Object.create(runtime, { use: { value: () => new Promise(() => {}) } }) as Runtime;
    expect(await ready(createHandler(loading))).toMatchObject([503, { models: [{ ready: false, reason: /loading/ }] }]);
  });

  it("looks again, and is ready no more when a probe fails that ran before", async () => {
    const fault = new InferyardError("HOST_DIED", "the process died");
    let works = true;
    const use: Runtime["use"] = (...args) => (works ? runtime.use(...args) : Promise.reject(fault));
    const dying = Object.create(runtime, {
      use: { value: use },
      memory: { value: () => runtime.memory() },
      manifest: { value: runtime.manifest.bind(runtime) },
    }) as Runtime;
    const readiness = new Readiness(createHandler(dying).service, { freshMs: -1 });
    await readiness.warmUp();
    expect((await readiness.report()).ready).toBe(true);
    works = false;
    await vi.waitFor(
      async () => expect(await readiness.report()).toMatchObject({ models: [{ ready: false, code: "HOST_DIED" }] }),
      { timeout: 60_000 },
    );
  });

  it("is ready no more when its process hung or is left alone, and ready again when a probe has run; a death alone changes nothing", async () => {
    let probing = Promise.resolve();
    const use: Runtime["use"] = async (...args) => (await probing, runtime.use(...args));
    const { readiness } = createHandler(withUse(use));
    await readiness.warmUp();
    const died = {
      type: "died",
      reference: "builtin",
      target: "native:cpu",
      reason: "it did not answer",
      deaths: 1,
      backoffMs: 0,
    } as const;
    const heard = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
    readiness.onEvent({ ...died, crashLoop: false });
    await heard();
    expect((await readiness.report()).ready).toBe(true);
    for (const how of [{ hung: true, crashLoop: false }, { crashLoop: true }]) {
      readiness.onEvent({ ...died, reference: "another", ...how });
      await heard();
      expect((await readiness.report()).ready).toBe(true);
      let finish = (): void => {};
      probing = new Promise<void>((resolve) => (finish = resolve));
      readiness.onEvent({ ...died, ...how });
      await vi.waitFor(
        async () =>
          expect(await readiness.report()).toMatchObject({
            models: [{ ready: false, code: "HOST_DIED", reason: "it did not answer" }],
          }),
        { timeout: 60_000 },
      );
      finish();
      await vi.waitFor(async () => expect((await readiness.report()).ready).toBe(true), { timeout: 60_000 });
    }
  });

  it("is not while one run goes on and on, and is again when it has ended", async () => {
    let runningMs = 0;
    const useLoaded = async (
      _reference: string,
      _options: object,
      work: (handle: { runningMs: number }) => unknown,
    ): Promise<unknown> => work({ runningMs });
    const stalled = Object.create(withUse(runtime.use.bind(runtime)), { useLoaded: { value: useLoaded } }) as Runtime;
    const { readiness } = createHandler(stalled, { requestTimeout: "40s" });
    await readiness.warmUp();
    runningMs = 9_900;
    expect((await readiness.report()).ready).toBe(true);
    runningMs = 10_100;
    expect(await readiness.report()).toMatchObject({
      models: [{ ready: false, code: "REQUEST_TIMEOUT", reason: expect.stringContaining("a run has taken 10 s so far") }],
    });
    runningMs = 0;
    expect((await readiness.report()).ready).toBe(true);
  });

  it("does not call back a model that has left memory", async () => {
    let uses = 0;
    const use: Runtime["use"] = (...args) => ((uses += 1), runtime.use(...args));
    const counting = Object.create(runtime, {
      use: { value: use },
      memory: { value: () => runtime.memory() },
      manifest: { value: runtime.manifest.bind(runtime) },
    }) as Runtime;
    const readiness = new Readiness(createHandler(counting).service, { freshMs: -1 });
    await readiness.warmUp();
    await runtime.unload("builtin");
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await readiness.report()).ready).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(uses).toBe(1);
  });

  it("is not once the server ends, which is alive all the same", async () => {
    const handler = createHandler(runtime);
    await handler.readiness.warmUp();
    handler.service.drain();
    expect(await ready(handler)).toMatchObject([503, { ready: false, draining: true }]);
    expect((await handler(new Request("http://localhost/health/live"))).status).toBe(200);
    expect((await handler(new Request("http://localhost/health"))).status).toBe(503);
  });
});
