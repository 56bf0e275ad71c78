import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { tinyGraph } from "../backends/onnxruntime/tiny-graph.ts";
import { InferyardError } from "../contract/errors.ts";
import type { TensorMap } from "../contract/tensor.ts";
import { type ScriptedBackend, scriptedBackend } from "../testing/scripted-backend.ts";
import { nodePlatform } from "../composition/node/platform.ts";
import { ModelRuntime } from "./model-runtime.ts";
import type { RuntimeEvent, RuntimeSettings } from "./options/runtime-settings.ts";

let folder = "";
/** A real ONNX file; what the scripted backends make of it is up to them. */
let model = "";
let otherModel = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-runtime-"));
  [model, otherModel] = [join(folder, "model.onnx"), join(folder, "other.onnx")];
  for (const path of [model, otherModel]) await writeFile(path, Buffer.from(tinyGraph, "base64"));
});
afterAll(() => rm(folder, { recursive: true }));

const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } };

interface Scene {
  readonly runtime: ModelRuntime;
  readonly events: RuntimeEvent[];
}

function start(backends: readonly ScriptedBackend[], settings: RuntimeSettings = {}): Scene {
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent): void => void events.push(event);
  return { runtime: new ModelRuntime(backends, { onEvent, ...settings }, async () => undefined, nodePlatform()), events };
}

const loads = ({ calls }: ScriptedBackend): number => calls.filter((call) => call.startsWith("load")).length;
const disposals = ({ calls }: ScriptedBackend): number => calls.filter((call) => call === "dispose model").length;

/** Dies at every run but the probe of verification. */
function crashing(name: string): ScriptedBackend {
  let runs = 0;
  const onRun = (given: TensorMap): TensorMap => {
    runs += 1;
    if (runs > 1) throw new InferyardError("HOST_DIED", "the worker ended");
    return { y: given["x"]! };
  };
  return scriptedBackend(name, { onRun });
}

describe("a backend of another's that breaks the contract", () => {
  const broken = (members: object): ScriptedBackend => ({ ...scriptedBackend("mine"), ...members });

  it("is named with the member by the first call that asks for its capabilities", async () => {
    const { runtime } = start([broken({ capabilities: () => ({}) }), scriptedBackend("onnx")]);
    const refusal = {
      code: "CONTRACT_VIOLATION",
      message: 'backend "mine" breaks its contract: capabilities(cpu:0).models is undefined, and must be a list',
    };
    await expect(runtime.explain(model)).rejects.toMatchObject(refusal);
    await expect(runtime.load(model)).rejects.toMatchObject(refusal);
    await runtime.dispose();
  });

  it.each([
    ["throws", () => Promise.reject(new TypeError("x is undefined")), "its probe failed: x is undefined"],
    ["finds nothing", async () => undefined, "probe() is undefined, and must be an object"],
    [
      "finds no list of devices",
      async () => ({ present: true, library: { name: "x", version: "1" } }),
      "probe().devices is undefined",
    ],
  ])("is absent where its probe %s, and the others serve", async (_name, probe, reason) => {
    const { runtime } = start([broken({ probe }), scriptedBackend("onnx")]);
    const { decision } = await runtime.load(model);
    expect(decision.selected?.target).toBe("onnx:cpu");
    const { candidates } = await runtime.explain(model, { target: "mine" });
    expect(candidates.find(({ target }) => target.startsWith("mine"))?.reason).toContain(reason);
    await runtime.dispose();
  });

  it("is named with the member of what it loads", async () => {
    for (const [loaded, member] of [
      [undefined, "load() is undefined, and must be an object"],
      [{ kind: "tensor" }, "load().library is undefined"],
      [{ kind: "tensor", library: { name: "x", version: "1" }, memory: {} }, "load().memory.bytes is undefined"],
    ] as const) {
      const { runtime } = start([broken({ load: async () => loaded })]);
      const refusal = {
        code: "CONTRACT_VIOLATION",
        message: expect.stringContaining(`backend "mine" breaks its contract: ${member}`),
      };
      await expect(runtime.load(model)).rejects.toMatchObject(refusal);
      await runtime.dispose();
    }
  });

  it("is named with the evidence that is none", async () => {
    const { runtime } = start([scriptedBackend("mine", { evidence: "right" as never })]);
    await expect(runtime.load(model)).rejects.toThrow(/evidence\(\) is "right", and must be a list/);
    await runtime.dispose();
  });
});

describe("loading", () => {
  it("two first requests for a model load it once, and it stays until both have given it back", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend]);
    const [one, other] = await Promise.all([runtime.load(model), runtime.load(model)]);
    expect(loads(backend)).toBe(1);
    await one.dispose();
    await runtime.unloadIdle();
    expect((await other.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
    await other.dispose();
    await runtime.unloadIdle();
    expect(disposals(backend)).toBe(1);
    await runtime.dispose();
  });

  it("what is asked for decides whether it is the same model: another target or thread count is another load", async () => {
    const backends = [scriptedBackend("onnx"), scriptedBackend("wasm")];
    const { runtime } = start(backends);
    const handles = [
      await runtime.load(model),
      await runtime.load(model, { target: "wasm" }),
      await runtime.load(model, { threads: 1 }),
      await runtime.load(model, { target: "wasm" }),
    ];
    expect(handles.map(({ target }) => target)).toEqual(["onnx:cpu", "wasm:cpu", "onnx:cpu", "wasm:cpu"]);
    expect(backends.map(loads)).toEqual([2, 1]);
    expect((await runtime.loaded()).map(({ selected }) => selected?.target)).toEqual(["onnx:cpu", "wasm:cpu", "onnx:cpu"]);
    await runtime.dispose();
  });

  it("a model is loaded as its author wants, unless the user says otherwise", async () => {
    const own = join(folder, "with-settings");
    await mkdir(own);
    await writeFile(join(own, "model.onnx"), Buffer.from(tinyGraph, "base64"));
    const hardware_requirements = { graph_optimization_level: "basic" };
    const kapsl = { project_name: "x", framework: "onnx", version: "1", created_at: "", model_file: "model.onnx" };
    await writeFile(join(own, "metadata.json"), JSON.stringify({ ...kapsl, hardware_requirements }));
    const seen: unknown[] = [];
    const backend = scriptedBackend("onnx");
    const spied: ScriptedBackend = {
      ...backend,
      load: (files, device, options) => {
        seen.push(options.graphOptimization);
        return backend.load(files, device, options);
      },
    };
    const { runtime } = start([spied]);
    await runtime.load(own);
    await runtime.load(own, { graphOptimization: "all" });
    expect(seen).toEqual(["basic", "all"]);
    await runtime.dispose();
  });

  it("the order in which options are written does not matter", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend]);
    await Promise.all([
      runtime.load(model, { target: "onnx", threads: 1 }),
      runtime.load(model, { threads: 1, target: "onnx" }),
    ]).finally(() => runtime.dispose());
    expect(loads(backend)).toBe(1);
  });

  it("a handle given back is of no further use, and the model is not touched through it", async () => {
    const { runtime } = start([scriptedBackend("onnx")]);
    const handle = await runtime.load(model);
    expect(handle).toMatchObject({ reference: model, target: "onnx:cpu", memory: { bytes: 8 } });
    await handle.dispose();
    await handle.dispose();
    expect(() => handle.target).toThrow("was disposed");
    await expect((async () => handle.run(inputs))()).rejects.toMatchObject({ code: "DISPOSED" });
    await runtime.dispose();
  });

  it("a variant the model has not names those it has", async () => {
    const { runtime } = start([scriptedBackend("onnx")]);
    await expect(runtime.load(model, { variant: "q9" })).rejects.toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: `${model} has no variant "q9"`,
      remedy: expect.stringMatching(/^choose one of \w+/),
    });
    await runtime.dispose();
  });

  it("a load that failed is tried anew by the next caller", async () => {
    let broken = true;
    const backend = scriptedBackend("onnx", {
      onLoad: () => {
        if (broken) throw new InferyardError("LOAD_FAILED", "no driver");
      },
    });
    const { runtime } = start([backend]);
    await expect(runtime.load(model)).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    broken = false;
    expect((await runtime.load(model)).target).toBe("onnx:cpu");
    await runtime.dispose();
  });

  it("cancelling stops the load that nobody else waits for, and nothing stays in memory", async () => {
    const controller = new AbortController();
    const backend = scriptedBackend("onnx", {
      onLoad: (_model, _device, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new InferyardError("ABORTED", "stopped")), { once: true });
          controller.abort();
        }),
    });
    const { runtime } = start([backend]);
    await expect(runtime.load(model, { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await runtime.loaded()).toEqual([]);
    await runtime.dispose();
  });

  it("a model nobody uses leaves after keepAlive", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime, events } = start([backend], { keepAlive: "20ms" });
    await (await runtime.load(model)).dispose();
    await vi.waitFor(() => expect(disposals(backend)).toBe(1), { timeout: 60_000 });
    expect(events.map(({ type }) => type)).toEqual(["loading", "loaded", "unloaded"]);
    await runtime.dispose();
  });

  it("a keepAlive of six weeks is not taken for one millisecond, as timers take it", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend], { keepAlive: "1000h" });
    await (await runtime.load(model)).dispose();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const gone = disposals(backend);
    await runtime.dispose();
    expect(gone).toBe(0);
  });
});

describe("constraints", () => {
  it("for single models hold for these only, and a request cannot loosen what a model requires", async () => {
    const backends = [scriptedBackend("onnx"), scriptedBackend("wasm")];
    const { runtime } = start(backends, { models: { [model]: { target: "wasm" } } });
    expect((await runtime.load(model)).target).toBe("wasm:cpu");
    expect((await runtime.load(otherModel)).target).toBe("onnx:cpu");
    await expect(runtime.load(model, { target: "onnx" })).rejects.toMatchObject({ code: "NO_BACKEND" });
    await runtime.dispose();
  });

  it("of the process hold for every model: exclude", async () => {
    const { runtime } = start([scriptedBackend("onnx"), scriptedBackend("wasm")], { exclude: "onnx" });
    const { decision, target } = await runtime.load(model);
    expect(target).toBe("wasm:cpu");
    expect(decision.constraints.excluded).toEqual(["onnx"]);
    await runtime.dispose();
  });

  it.each([
    ["a target that is none", { target: "not a target" }, "INPUT_INVALID"],
    ["one for a single model", { models: { x: { prefer: "a:b:c" } } }, "INPUT_INVALID"],
    ["a duration that is none", { keepAlive: "soon" }, "CONFIG_INVALID"],
  ] as const)("%s is refused when the runtime is made, not at the first load", (_name, settings, code) => {
    expect(() => start([scriptedBackend("onnx")], settings)).toThrow(expect.objectContaining({ code }));
  });
});

describe("explaining", () => {
  it("tells what a load would do, and loads nothing", async () => {
    const backends = [scriptedBackend("onnx"), scriptedBackend("wasm")];
    const { runtime, events } = start(backends);
    const decision = await runtime.explain(model, { prefer: "wasm" });
    expect(decision.candidates.map(({ target, verdict }) => `${target} ${verdict}`)).toEqual([
      "wasm:cpu would-run",
      "onnx:cpu not-tried",
    ]);
    expect(decision.selected).toBeNull();
    expect(backends.map(({ calls }) => calls)).toEqual([["probe"], ["probe"]]);
    expect(events).toEqual([]);
    await runtime.dispose();
  });

  it("backends are probed once for all loads, and again when asked", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend]);
    await runtime.load(model);
    await runtime.load(otherModel);
    expect(backend.calls.filter((call) => call === "probe")).toHaveLength(1);
    expect(await runtime.backends()).toMatchObject([{ backend: "onnx", availability: { present: true } }]);
    expect(backend.calls.filter((call) => call === "probe")).toHaveLength(2);
    await runtime.dispose();
  });

  it("a probe that throws is a reason like any other, and hides no other backend", async () => {
    const broken: ScriptedBackend = { ...scriptedBackend("onnx"), probe: () => Promise.reject(new TypeError("x is undefined")) };
    const { runtime } = start([broken, scriptedBackend("wasm")]);
    const { decision, target } = await runtime.load(model);
    expect(target).toBe("wasm:cpu");
    expect(decision.candidates.find((candidate) => candidate.target === "onnx:cpu")?.reason).toBe(
      "its probe failed: x is undefined",
    );
    await runtime.dispose();
  });
});

describe("a model that does not run where it was meant to", () => {
  const refusing = (name: string): ScriptedBackend =>
    scriptedBackend(name, {
      onLoad: () => {
        throw new InferyardError("LOAD_FAILED", "it has no such operator");
      },
    });
  const fallbacks = ({ events }: Scene): unknown[] => events.filter(({ type }) => type === "fallback");

  it("is told as a fallback for each target whose load failed", async () => {
    const scene = start([refusing("onnx"), scriptedBackend("wasm")]);
    await scene.runtime.use(model, {}, async () => {});
    const told = {
      type: "fallback",
      reference: model,
      from: "onnx:cpu",
      to: "wasm:cpu",
      reason: "load: it has no such operator",
    };
    expect(fallbacks(scene)).toEqual([told]);
    await scene.runtime.dispose();
  });

  it("is told as one where a target that is preferred cannot be tried, and where it can, nothing is", async () => {
    const scene = start([scriptedBackend("onnx"), scriptedBackend("wasm")]);
    await scene.runtime.use(model, { prefer: ["onnx:cuda", "wasm"] }, async () => {});
    await scene.runtime.use(model, { prefer: ["onnx", "wasm"], threads: 1 }, async () => {});
    await scene.runtime.use(model, { exclude: ["onnx"], threads: 2 }, async () => {});
    expect(fallbacks(scene)).toMatchObject([{ from: "onnx:cuda", to: "wasm:cpu", reason: expect.stringMatching(/^device: /) }]);
    await scene.runtime.dispose();
  });
});

describe("failover", () => {
  it("moves the model, says so, and leaves the failed target alone for a while", async () => {
    const { runtime, events } = start([crashing("onnx"), scriptedBackend("wasm")], { failover: true });
    const handle = await runtime.load(model);
    expect(handle.target).toBe("onnx:cpu");
    expect((await handle.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
    expect(handle.target).toBe("wasm:cpu");
    expect(handle.decision.candidates).toContainEqual(
      expect.objectContaining({ target: "onnx:cpu", verdict: "refused", stage: "circuit" }),
    );
    expect(events.map(({ type }) => type)).toEqual(["loading", "loaded", "failover", "loading", "loaded"]);
    expect(events[2]).toEqual({ type: "failover", reference: model, from: "onnx:cpu", reason: "the worker ended" });
    expect((await runtime.load(otherModel)).target).toBe("wasm:cpu");
    await runtime.dispose();
  });

  it("is off unless it was asked for", async () => {
    const { runtime } = start([crashing("onnx"), scriptedBackend("wasm")]);
    const handle = await runtime.load(model);
    await expect(handle.run(inputs)).rejects.toMatchObject({ code: "HOST_DIED" });
    expect(handle.target).toBe("onnx:cpu");
    await runtime.dispose();
  });
});

describe("strategies", () => {
  it("eager and pinned models, and those to preload, are loaded at the start; lazy ones are not", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime, events } = start([backend], {
      models: { [model]: { strategy: "eager" }, [join(folder, "never.onnx")]: { strategy: "lazy" } },
      preload: [otherModel],
    });
    await runtime.preload();
    expect(events.map((event) => event.type).filter((type) => type !== "loading")).toEqual(["loaded", "loaded"]);
    expect(
      runtime
        .memory()
        .models.map(({ reference }) => reference)
        .toSorted(),
    ).toEqual([model, otherModel].toSorted());
    await runtime.load(model);
    expect(loads(backend)).toBe(2);
    await runtime.dispose();
  });

  it("a model that cannot be preloaded is an error at the start", async () => {
    const { runtime } = start([scriptedBackend("onnx")], { preload: [join(folder, "missing.onnx")] });
    await expect(runtime.preload()).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await runtime.dispose();
  });

  it("keepAlive ends lazy models only", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend], { keepAlive: 10, models: { [model]: { strategy: "eager" } } });
    await (await runtime.load(model)).dispose();
    await (await runtime.load(otherModel)).dispose();
    await vi.waitFor(() => expect(runtime.memory().models.map(({ reference }) => reference)).toEqual([model]), {
      timeout: 60_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(disposals(backend)).toBe(1);
    await runtime.dispose();
  });

  it("a pinned model stays until it is unloaded by name, however its place is written", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend], { models: { [model]: { strategy: "pinned" } } });
    await runtime.preload();
    await runtime.unloadIdle();
    expect(disposals(backend)).toBe(0);
    expect(await runtime.unload(`file://${model}`)).toBe(true);
    expect(await runtime.unload(model)).toBe(false);
    expect(disposals(backend)).toBe(1);
    await runtime.dispose();
  });

  it("an unknown one is refused, and so is what is no setting of a model", () => {
    expect(() => start([], { models: { [model]: { strategy: "bounded" as never } } })).toThrow(/bounded/);
    expect(() => start([], { models: { [model]: { pinned: true } as never } })).toThrow(/pinned/);
  });
});

describe("a memory budget", () => {
  it("refuses what could never fit, for each target with its reason, before anything is loaded", async () => {
    const backend = scriptedBackend("onnx", { capabilities: { footprint: { bytes: 50e6, perWeightByte: 1 } } });
    const { runtime } = start([backend], { maxMemory: "20MB" });
    const error: unknown = await runtime.load(model).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "BACKEND_UNAVAILABLE" });
    expect((error as InferyardError).message).toContain("requirement: needs about 51 MB, and maxMemory is 20 MB");
    expect(backend.calls).toEqual(["probe"]);
    await runtime.dispose();
  });

  it("makes the model leave that was used longest ago, and says for whom", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime, events } = start([backend], { maxLoadedModels: 1 });
    await (await runtime.load(model)).dispose();
    await runtime.use(otherModel, {}, async () => {});
    expect(events).toContainEqual({
      type: "unloaded",
      reference: model,
      target: "onnx:cpu",
      why: "evicted",
      evictedFor: otherModel,
    });
    await runtime.dispose();
  });

  it("waits for a lease of hold, which keeps its model in memory until it is disposed", async () => {
    const { runtime, events } = start([scriptedBackend("onnx")], { maxLoadedModels: 1 });
    const lease = await runtime.hold(model);
    const unloaded = (): unknown[] => events.filter(({ type }) => type === "unloaded");
    const other = runtime.hold(otherModel);
    await vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ type: "loaded" })));
    expect(await lease.run(inputs)).toHaveProperty("y");
    expect(unloaded()).toEqual([]);
    await lease[Symbol.asyncDispose]();
    expect(() => lease.target).toThrowError(expect.objectContaining({ code: "DISPOSED" }));
    expect((await other).reference).toBe(otherModel);
    expect(unloaded()).toMatchObject([{ reference: model, why: "evicted", evictedFor: otherModel }]);
    await runtime.dispose();
  });

  it("waits for a model in use as long as memoryWait says, then tells who holds the memory", async () => {
    const { runtime } = start([scriptedBackend("onnx")], { maxLoadedModels: 1, memoryWait: "20ms" });
    const handle = await runtime.load(model);
    await expect(runtime.load(otherModel)).rejects.toMatchObject({
      code: "MEMORY_BUDGET",
      message: expect.stringMatching(/1 of at most 1 models are in memory.*\n.*in use \(1 user\)/),
    });
    const waiting = runtime.load(otherModel);
    await handle.dispose();
    expect((await waiting).reference).toBe(otherModel);
    await runtime.dispose();
  });

  it("reports what each model holds and what the limits are", async () => {
    const { runtime } = start([scriptedBackend("onnx")], { maxMemory: "1GB", maxDeviceMemory: { cuda: "2GB" } });
    const { decision } = await runtime.load(model);
    expect(runtime.memory()).toEqual({
      limits: { bytes: { memory: 1e9, "cuda:0": 2e9 }, models: null },
      models: [
        {
          reference: model,
          target: "onnx:cpu",
          decision: decision.id,
          state: "in use (1 user)",
          bytes: { memory: 8 },
          measure: "allocated",
          contextLength: null,
          expiresAt: expect.any(Number),
          restarts: 0,
        },
      ],
    });
    await runtime.dispose();
    const free = start([scriptedBackend("onnx")]);
    expect(free.runtime.memory()).toEqual({ limits: null, models: [] });
    await free.runtime.dispose();
  });

  it("books what a model was seen to take, once it was seen", async () => {
    const sizes = { bytes: 60e6 };
    const base = scriptedBackend("onnx");
    const backend: ScriptedBackend = {
      ...base,
      load: async (...given) => ({ ...(await base.load(...given)), memory: { bytes: sizes.bytes, measure: "allocated" } }),
    };
    const { runtime } = start([backend], { maxMemory: "100MB", memoryWait: "20ms" });
    await (await runtime.load(model)).dispose();
    await runtime.unloadIdle();
    const other = await runtime.load(otherModel); // takes 60 MB of the 100
    await expect(runtime.load(model)).rejects.toMatchObject({ code: "MEMORY_BUDGET", data: { need: { memory: 60e6 } } });
    await other.dispose();
    await runtime.dispose();
  });

  it("an amount that is none is refused when the runtime is made", () => {
    expect(() => start([scriptedBackend("onnx")], { maxMemory: "plenty" })).toThrow(/not an amount of memory/);
    expect(() => start([scriptedBackend("onnx")], { maxDeviceMemory: { "cuda:0": 0 } })).toThrow(/not an amount of memory/);
    expect(() => start([scriptedBackend("onnx")], { maxLoadedModels: 0 })).toThrow(/maxLoadedModels/);
  });
});

describe("the end", () => {
  it("unloads models in use, then the backends, and refuses further loads", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime, events } = start([backend]);
    const handle = await runtime.load(model);
    await runtime.dispose();
    expect(backend.calls.slice(-2)).toEqual(["dispose model", "dispose"]);
    expect(events.at(-1)).toEqual({ type: "unloaded", reference: model, target: "onnx:cpu", why: "disposed" });
    await expect(handle.run(inputs)).rejects.toMatchObject({ code: "DISPOSED" });
    await expect(runtime.load(model)).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("disposing twice frees the backends once: the contract promises them one call", async () => {
    const backend = scriptedBackend("onnx");
    const { runtime } = start([backend]);
    await runtime.dispose();
    await runtime.dispose();
    expect(backend.calls).toEqual(["dispose"]);
  });
});
