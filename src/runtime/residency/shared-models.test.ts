import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { amount } from "../../../test/fixtures/slow.ts";
import { tinyGraph } from "../../backends/onnxruntime/tiny-graph.ts";
import { InferyardError } from "../../contract/errors.ts";
import { nodePlatform } from "../../composition/node/platform.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { type ScriptedBackend, scriptedBackend } from "../../testing/scripted-backend.ts";
import { requestKey } from "./model-keys.ts";
import { ModelRuntime } from "../model-runtime.ts";
import type { ModelOptions, RuntimeEvent, RuntimeSettings } from "../options/runtime-settings.ts";
import type { AdmitLoad } from "../scheduling/scheduling-key.ts";

let folder = "";
let model = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-shared-"));
  model = join(folder, "model.onnx");
  await writeFile(model, Buffer.from(tinyGraph, "base64"));
});
afterAll(() => rm(folder, { recursive: true }));

const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } };
const fails = (name: string): ScriptedBackend =>
  scriptedBackend(name, {
    onLoad: () => {
      throw new InferyardError("LOAD_FAILED", `${name} is broken`);
    },
  });
const loads = ({ calls }: ScriptedBackend): number => calls.filter((call) => call.startsWith("load")).length;

async function withRuntime(
  backends: readonly ScriptedBackend[],
  settings: RuntimeSettings,
  test: (runtime: ModelRuntime, events: RuntimeEvent[]) => Promise<void>,
): Promise<void> {
  const events: RuntimeEvent[] = [];
  const told = { onEvent: (event: RuntimeEvent): void => void events.push(event), ...settings };
  const runtime = new ModelRuntime(backends, told, async () => undefined, nodePlatform());
  try {
    await test(runtime, events);
  } finally {
    await runtime.dispose();
  }
}

const spellings = [
  "onnx",
  "onnx:cpu",
  "onnx:auto",
  "ONNX:CPU",
  "onnx:cpu:0",
  "wasm",
  "wasm:cpu",
  "native:gpu",
  "xla",
  "onnx:dml",
];
const targets = fc.array(fc.constantFrom(...spellings), { maxLength: 5 });
const someTargets = fc.array(fc.constantFrom(...spellings), { minLength: 1, maxLength: 5 });
const anyOptions = fc.record({ prefer: targets, target: someTargets, exclude: targets }, { requiredKeys: [] });

describe("requests", () => {
  it("that resolve to one target share one model, however they are written, and none gets a target it did not allow", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyOptions, { minLength: 1, maxLength: 30 }), async (requests) => {
        const backends = [scriptedBackend("onnx"), scriptedBackend("wasm"), fails("native")];
        await withRuntime(backends, {}, async (runtime) => {
          const work = async (options: ModelOptions): Promise<void> => {
            const expected = await runtime.explain(model, options);
            const wouldRun = expected.candidates.find(
              ({ verdict, target }) => verdict === "would-run" && target !== "native:cpu",
            );
            const wanted = wouldRun ?? expected.candidates.find(({ verdict }) => verdict === "not-tried");
            const used = await runtime
              .use(model, options, async ({ target, decision }) => ({ target, decision }))
              .catch((error: unknown) => {
                if (!(error instanceof InferyardError)) throw error;
              });
            expect(used?.target).toBe(wanted?.target);
            if (used === undefined) return;
            const { target, decision } = used;
            // Truthful for this request: what it asked, every candidate in its order, and what runs.
            expect(decision.constraints).toEqual(expected.constraints);
            expect(decision.candidates.map((candidate) => candidate.target)).toEqual(
              expected.candidates.map((candidate) => candidate.target),
            );
            expect(decision.candidates.find(({ verdict }) => verdict === "selected")?.target).toBe(target);
            expect(decision.selected?.target).toBe(target);
            const refused = (candidate: { readonly verdict: string }): boolean => candidate.verdict === "refused";
            expect(decision.candidates.filter(refused)).toEqual(expected.candidates.filter(refused));
          };
          await Promise.all(requests.map(work));
          for (const options of requests) await work(options);
          expect([loads(backends[0]!) <= 1, loads(backends[1]!) <= 1]).toEqual([true, true]);
          expect(runtime.memory().models.length).toBeLessThanOrEqual(2);
        });
      }),
      { numRuns: amount(30, 12) },
    );
  });

  it("are the same where only the spelling or doubles differ", () => {
    const same = [{ target: "onnx,wasm" }, { target: ["onnx:auto", "wasm", "ONNX"] }, { target: [" onnx ", "wasm"], prefer: [] }];
    expect(new Set(same.map((options) => requestKey("m", options))).size).toBe(1);
    const different = [
      {},
      { prefer: "onnx,wasm" },
      { prefer: "wasm,onnx" },
      { target: "onnx,wasm" },
      { target: "wasm,onnx" }, // one model, and each decision lists the targets as its request wrote them
      { exclude: "onnx" },
      { threads: 1 },
      { variant: "int8" },
    ];
    expect(new Set(different.map((options) => requestKey("m", options))).size).toBe(different.length);
  });

  it("that name thousands of targets are refused", async () => {
    await withRuntime([scriptedBackend("onnx")], {}, async (runtime) => {
      const prefer = Array.from({ length: 5000 }, (_value, index) => `other${index}`);
      await expect(runtime.use(model, { prefer }, async () => {})).rejects.toMatchObject({ code: "INPUT_INVALID" });
      await expect(runtime.explain(model, { prefer })).rejects.toMatchObject({ code: "INPUT_INVALID" });
      await expect(runtime.explain(model, { target: `onnx:${"a".repeat(1e6)}` })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.not.stringContaining("a".repeat(101)),
      });
    });
  });
});

describe("a check of one request", () => {
  it("refuses that request alone, loads nothing for it, and is no failed load", async () => {
    const onnx = scriptedBackend("onnx");
    await withRuntime([onnx], {}, async (runtime, events) => {
      const refusal = new InferyardError("MODEL_UNSUPPORTED", "it has no labels");
      const refused = { requireModel: async (): Promise<void> => Promise.reject(refusal) };
      const use = async (hooks?: typeof refused): Promise<unknown> =>
        await runtime.use(model, {}, async ({ target }) => target, undefined, hooks).catch((error: unknown) => error);
      expect(await Promise.all([use(refused), use()])).toEqual([refusal, "onnx:cpu"]);
      expect(await use(refused)).toBe("onnx:cpu"); // what is loaded serves any request, whose own task decides
      expect(loads(onnx)).toBe(1);
      expect(events.filter(({ type }) => type === "load-failed")).toEqual([]);
    });
  });
});

describe("what is in memory", () => {
  it("is told of the target that a request would get, whether it was resolved before or not, and nothing is loaded for the question", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const onnx = scriptedBackend("onnx", { onLoad: () => gate });
    await withRuntime([onnx, scriptedBackend("wasm")], {}, async (runtime) => {
      expect(await runtime.isLoaded(model)).toBe(false);
      expect(loads(onnx)).toBe(0);
      const loading = runtime.use(model, {}, async ({ target }) => target);
      expect(await runtime.isLoaded(model)).toBe(false);
      open();
      expect(await loading).toBe("onnx:cpu");
      expect(await runtime.isLoaded(model)).toBe(true);
      expect(await runtime.isLoaded(model, { target: "onnx:auto" })).toBe(true); // never asked for in these words
      expect(await runtime.isLoaded(model, { target: "wasm" })).toBe(false);
      expect(await runtime.isLoaded(model, { target: "native" })).toBe(false); // refused
      expect(await runtime.isLoaded(join(folder, "none.onnx"))).toBe(false);
      await runtime.unloadIdle();
      expect(await runtime.isLoaded(model)).toBe(false);
    });
  });

  it("is used without a load, and what is not there is not loaded", async () => {
    const onnx = scriptedBackend("onnx");
    await withRuntime([onnx], {}, async (runtime) => {
      const used = (): Promise<string | undefined> => runtime.useLoaded(model, {}, async ({ target }) => target);
      expect(await used()).toBeUndefined();
      await runtime.use(model, {}, async () => {});
      expect(await used()).toBe("onnx:cpu");
      await runtime.unloadIdle();
      expect(await used()).toBeUndefined();
      expect(loads(onnx)).toBe(1);
    });
  });
});

describe("a first choice that does not load", () => {
  it("is tried once while its fallback is in memory, and each decision says that it failed", async () => {
    const [broken, sound] = [fails("onnx"), scriptedBackend("wasm")];
    await withRuntime([broken, sound], {}, async (runtime, events) => {
      const verdicts = async (options: ModelOptions): Promise<string[]> =>
        runtime.use(model, options, async ({ decision }) => decision.candidates.map(({ verdict }) => verdict));
      for (let time = 0; time < 3; time += 1) expect(await verdicts({})).toEqual(["failed", "selected"]);
      expect(await verdicts({ target: "wasm" })).toEqual(["refused", "selected"]);
      expect([loads(broken), loads(sound)]).toEqual([1, 1]);
      expect(events.filter(({ type }) => type === "loaded").length).toBe(1);
      await expect(verdicts({ target: "onnx" })).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    });
  });
});

describe("a model that moves when it fails", () => {
  it("never takes a request to a target that it excluded", async () => {
    let dies = false;
    const crashing = scriptedBackend("onnx", {
      onRun: (given) => {
        if (dies) throw new InferyardError("HOST_DIED", "it died");
        return { y: given["x"]! };
      },
    });
    const [native, wasm] = [scriptedBackend("native"), scriptedBackend("wasm")];
    await withRuntime([crashing, native, wasm], { failover: true }, async (runtime) => {
      const any = await runtime.load(model, { prefer: "onnx:cpu" });
      const same = await runtime.load(model, {});
      const narrow = await runtime.load(model, { exclude: "native" });
      expect([any, same, narrow].map(({ target }) => target)).toEqual(["onnx:cpu", "onnx:cpu", "onnx:cpu"]);
      expect(loads(crashing)).toBe(2); // one for those that may go to native, one for the other
      dies = true;
      await Promise.all([any, same, narrow].map((handle) => handle.run(inputs)));
      expect([any, same, narrow].map(({ target }) => target)).toEqual(["native:cpu", "native:cpu", "wasm:cpu"]);
      expect(same.decision).toBe(same.decision);
      expect([any, same].map(({ decision }) => [decision.constraints.preferred, decision.selected?.target])).toEqual([
        [["onnx:cpu"], "native:cpu"],
        [[], "native:cpu"],
      ]);
    });
  });
});

describe("loads that must be admitted", () => {
  it("are asked for once for each load, told of their end, and refused for their own client alone", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    await withRuntime([scriptedBackend("onnx", { onLoad: () => gate })], {}, async (runtime) => {
      let [asked, ended] = [0, 0];
      const admitLoad: AdmitLoad = async () => {
        asked += 1;
        return () => (ended += 1);
      };
      let [beginRefused, refuse] = [(): void => {}, (): void => {}];
      const refusedBegan = new Promise<void>((resolve) => (beginRefused = resolve));
      const refusal = new Promise<void>((resolve) => (refuse = resolve));
      const refusing: AdmitLoad = async () => {
        beginRefused();
        await refusal;
        throw new InferyardError("RATE_LIMITED", "too many");
      };
      const use = (client: string, admit: AdmitLoad, options: ModelOptions = {}): Promise<string> =>
        runtime.use(model, options, async ({ target }) => target, { client, priority: "normal", admitLoad: admit });
      const refused = use("a", refusing);
      await refusedBegan; // a has begun the load; otherwise it could share the load of b, which waits for the gate
      const others = [use("b", admitLoad), use("b", admitLoad, { prefer: "onnx" })];
      refuse();
      await expect(refused).rejects.toMatchObject({ code: "RATE_LIMITED" });
      open();
      expect(await Promise.all(others)).toEqual(["onnx:cpu", "onnx:cpu"]);
      expect(await use("a", refusing, { target: "onnx:auto" })).toBe("onnx:cpu"); // in memory: nothing is loaded
      expect([asked, ended]).toEqual([1, 1]);
    });
  });
});

describe("while a model is compiled", () => {
  /** A backend that compiles until `end` is called. */
  function compiling(fails = false): { readonly backend: ScriptedBackend; readonly end: () => void } {
    let end = (): void => {};
    const compiled = new Promise<void>((resolve) => (end = resolve));
    const backend = scriptedBackend("onnx", {
      onLoad: async () => {
        await compiled;
        if (fails) throw new InferyardError("LOAD_FAILED", "it does not compile");
      },
    });
    const capabilities: ScriptedBackend["capabilities"] = (device) => ({ ...backend.capabilities(device), compiles: true });
    return { backend: { ...backend, capabilities }, end };
  }
  const target = (runtime: ModelRuntime, options: ModelOptions = {}): Promise<string> =>
    runtime.use(model, options, async (used) => used.target);

  it("the next target serves, and the compiled model once it is there; it is loaded once", async () => {
    const { backend, end } = compiling();
    const other = scriptedBackend("wasm");
    await withRuntime([backend, other], { whileCompiling: "next" }, async (runtime) => {
      const first = await runtime.use(model, {}, async ({ target: ran, decision }) => ({ target: ran, decision }));
      expect(first.target).toBe("wasm:cpu");
      expect(first.decision.candidates).toMatchObject([
        { target: "onnx:cpu", verdict: "failed", reason: expect.stringContaining("is being compiled") },
        { target: "wasm:cpu", verdict: "selected" },
      ]);
      expect(await target(runtime, { exclude: "native" })).toBe("wasm:cpu"); // another request, which shares both loads
      end();
      await vi.waitFor(async () => expect(await target(runtime)).toBe("onnx:cpu"));
      const { candidates } = await runtime.use(model, {}, async ({ decision }) => decision);
      expect(candidates).toMatchObject([{ target: "onnx:cpu", verdict: "selected" }, { target: "wasm:cpu" }]);
      expect([loads(backend), loads(other)]).toEqual([1, 1]);
    });
  });

  it("a request waits that permits no other target, or whose others fail, or without the setting", async () => {
    for (const [others, settings, options] of [
      [[scriptedBackend("wasm")], { whileCompiling: "next" }, { target: "onnx" }],
      [[fails("wasm")], { whileCompiling: "next" }, {}],
      [[scriptedBackend("wasm")], {}, {}],
    ] as const) {
      const { backend, end } = compiling();
      await withRuntime([backend, ...others], settings, async (runtime) => {
        const waiting = target(runtime, options);
        await vi.waitFor(() => expect(loads(backend)).toBe(1));
        end();
        expect(await waiting).toBe("onnx:cpu");
        expect(await target(runtime, options)).toBe("onnx:cpu");
      });
    }
  });

  it("a model that fails to compile leaves the other one serving, and is not compiled for each request", async () => {
    const { backend, end } = compiling(true);
    await withRuntime([backend, scriptedBackend("wasm")], { whileCompiling: "next" }, async (runtime) => {
      end();
      for (let call = 0; call < 3; call += 1) expect(await target(runtime)).toBe("wasm:cpu");
      expect(loads(backend)).toBe(1);
    });
  });

  it("disposal ends the compilation", async () => {
    const { backend, end } = compiling();
    await withRuntime([backend, scriptedBackend("wasm")], { whileCompiling: "next" }, async (runtime) => {
      expect(await target(runtime)).toBe("wasm:cpu");
      setImmediate(end);
    });
    expect(loads(backend)).toBe(1);
  });

  it("an unknown mode is refused", () => {
    const create = (): ModelRuntime =>
      new ModelRuntime([], { whileCompiling: "later" } as never, async () => undefined, nodePlatform());
    expect(create).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }) as Error);
  });
});
