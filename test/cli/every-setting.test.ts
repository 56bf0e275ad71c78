/**
 * Every setting of a runtime and every option of a load, with an effect that is seen: the outcome differs from that without it. That flags, variables and
 * inferyard.yaml become these settings, test/cli/every-flag.test.ts sees.
 *
 * @isolated since it counts the children of its process
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { InferyardError, type ModelHandle, type ModelOptions, type Runtime, type TensorMap, createRuntime } from "inferyard";
import type { Backend, LoadOptions } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { scriptedBackend } from "inferyard/testing";
import { tinyGraph } from "../../src/backends/onnxruntime/tiny-graph.ts";
import { modelOptionNames, runtimeSettingNames } from "../../src/runtime/options/options.ts";
import type { RuntimeSettings } from "../../src/runtime/options/runtime-settings.ts";
import { settingNames } from "../../src/settings/settings.ts";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { type ScriptedLanguageModel, scriptedLanguageModel } from "../generation/fixtures/scripted-language-model.ts";
import { writeTypedGguf } from "../gguf/fixtures/typed-gguf.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { behaviors, failing } from "../runtime/fixtures/failing-backend.mjs";

const folder = mkdtempSync(join(tmpdir(), "inferyard-every-setting-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [model, otherModel] = ["model.onnx", "other.onnx"].map((name) => {
  const path = join(folder, name);
  writeFileSync(path, Buffer.from(tinyGraph, "base64"));
  return path;
}) as [string, string];

const quantized = join(folder, "quantized.gguf");
writeTypedGguf(quantized, ["I2_S", "TL1", "Q4_K"]);

/** A runtime with recorded backends, and what it did. */
interface Scene {
  readonly runtime: Runtime;
  /** The loads so far: target and options. */
  readonly loads: { readonly target: string; readonly options: LoadOptions }[];
  /** Whether the runtime has the setting. */
  readonly isSet: boolean;
}

type Backends = (loads: Scene["loads"]) => readonly Backend[];
type Look = (scene: Scene) => Promise<unknown>;

/** A setting, what is looked at with it and without it, and settings that both have. */
interface Case<Given> {
  readonly given: Given;
  readonly look: Look;
  readonly both?: RuntimeSettings;
  readonly backends?: Backends;
}

const devices = (["cuda", "cpu"] as const).map((type) => ({
  device: { type, index: 0 },
  state: "present" as const,
  reason: "scripted",
}));

/** `onnx` with a GPU and a CPU, whose runs fail on the GPU after the probe where `fails`; and `wasm`. */
const scripted =
  (fails = false): Backends =>
  (loads) =>
    ["onnx", "wasm"].map((name) => {
      let runs = 0;
      const onRun = (inputs: TensorMap): TensorMap => {
        runs += 1;
        if (fails && name === "onnx" && runs > 1) throw new InferyardError("OUT_OF_MEMORY", "no memory is left");
        return { y: inputs["x"]! };
      };
      const library = { name, version: "1.0.0" };
      return scriptedBackend(name, {
        availability: { present: true, library, devices: name === "onnx" ? devices : devices.slice(1) },
        onLoad: (_files, { type }, options) => void loads.push({ target: `${name}:${type}`, options }),
        onRun,
      });
    });

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );
const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } };
const targetOf: Look = async ({ runtime }) => (await runtime.load(model)).target;
const loadOptions: Look = async ({ runtime, loads }) => {
  await runtime.load(model);
  const { signal: _signal, ...options } = loads[0]?.options ?? {};
  return options;
};
/** Options of loading a language model with weights of several types, whose load then fails. */
const languageOptions: Look = async ({ runtime, loads }) => {
  await codeOf(runtime.load(quantized, { kind: "language" }));
  const { signal: _signal, ...options } = loads[0]?.options ?? {};
  return options;
};
const readsGguf: Backends = (loads) => [
  {
    ...scriptedBackend("native", {
      capabilities: { models: [{ kind: "language", format: "gguf", architectures: "any", runsIn: "caller" }] },
    }),
    loadLanguage: async (_files, { type }, options) => {
      loads.push({ target: `native:${type}`, options });
      throw new InferyardError("LOAD_FAILED", "it is enough to have been asked");
    },
  },
];
/** A setting that concerns language models alone, or weights of some types. */
const ofLanguage = <Given>(given: Given): Case<Given> => ({ given, look: languageOptions, backends: readsGguf });
const loadOutcome: Look = ({ runtime }) => codeOf(runtime.load(model));
const plain: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(behaviors.plain, 0) } };
const behave = (handle: ModelHandle, behavior: number): Promise<unknown> =>
  codeOf(handle.run({ x: { dataType: "float32", shape: [2], data: Float32Array.of(behavior, 0) } }));
/** Has the process of a model grow, and returns whether it is replaced. */
async function hoard(runtime: Runtime): Promise<() => boolean> {
  await behave(await runtime.load(model), behaviors.hoard);
  return () => (runtime.memory().models[0]?.restarts ?? 0) > 0;
}
/** Whether the process of a model that has grown and is idle is replaced; without the setting, by the time that another one is, which began later. */
const restartsWhenIdle: Look = async ({ runtime, isSet }) => {
  const isReplaced = await hoard(runtime);
  const options = { host: "process", growthIdle: "1ms", maxProcessGrowth: 1, backends: [failing()] } as const;
  const other = isSet ? undefined : await createRuntime(options);
  try {
    await vi.waitUntil(other === undefined ? isReplaced : await hoard(other), { timeout: 30_000 });
    return isReplaced();
  } finally {
    await other?.dispose({ timeout: 0 });
  }
};
const builtin: Backends = () => [native()];

/** `native` with a language model. */
const writers: ScriptedLanguageModel[] = [];
const writing: Backends = () => {
  const backend: Backend = {
    ...scriptedBackend("native", {
      capabilities: { models: [{ kind: "language", format: "gguf", architectures: "any", runsIn: "caller" }] },
    }),
    loadLanguage: async () => {
      const made = scriptedLanguageModel();
      writers.push(made);
      return made;
    },
  };
  return [backend];
};
/** Has 17 clients write a text each, one more than run at once, and returns how often texts were parked, and how many tokens the model computed. */
async function write({ runtime }: Scene): Promise<{ readonly preemptions: number; readonly computed: number }> {
  const texts = Array.from({ length: 17 }, (_, index) =>
    runtime.use(quantized, { kind: "language" }, (handle) => runtime.generate([index], { model: handle, maxNewTokens: 20 }), {
      client: String(index),
      priority: "normal",
    }),
  );
  await Promise.all(texts);
  const [counts] = runtime.sequences();
  const steps = writers.at(-1)?.calls.flat() ?? [];
  return { preemptions: counts?.preemptions ?? 0, computed: steps.reduce((sum, { tokens }) => sum + tokens.length, 0) };
}

const events: string[] = [];
const constraints = {
  policy: { given: "manifest", look: loadOutcome },
  priority: { given: ["wasm", "onnx"], look: targetOf },
  prefer: { given: "wasm", look: targetOf },
  target: { given: "onnx:cpu", look: targetOf },
  exclude: { given: "onnx:cuda", look: targetOf },
  gpu: { given: "off", look: targetOf },
} satisfies { readonly [Name in keyof RuntimeSettings]: Case<RuntimeSettings[Name]> };
const loadSettings = {
  threads: { given: 1, look: loadOptions },
  graphOptimization: { given: "basic", look: loadOptions },
  cpuNodes: { given: "allow", look: loadOptions },
  memoryPattern: { given: false, look: loadOptions },
  memoryArena: { given: false, look: loadOptions },
  contextLength: ofLanguage(64),
  allowSmallerContext: ofLanguage(true),
  cachePrecision: ofLanguage("fp16"),
  i2sLayout: ofLanguage("arm"),
  kernels: ofLanguage(["Q4_K_Scalar"]),
  machineCode: { given: "off", look: loadOptions },
  tlTiles: ofLanguage(["8x8=1/2/3"]),
  adapters: ofLanguage([{ path: "adapter.gguf", scale: 0.5 }]),
} satisfies { readonly [Name in keyof RuntimeSettings]: Case<RuntimeSettings[Name]> };

const settings: { readonly [Name in keyof RuntimeSettings]-?: Case<RuntimeSettings[Name]> } = {
  ...constraints,
  ...loadSettings,
  models: { given: { [model]: { target: "wasm" } }, look: targetOf },
  preload: { given: [model], look: async ({ loads }) => loads.length },
  host: { given: "worker", look: loadOutcome },
  replicas: {
    given: 2,
    backends: () => [failing()],
    both: { host: "process" },
    look: async ({ runtime }) => {
      const handle = await runtime.load(model);
      for (let round = 0; round < 10; round += 1) {
        await Promise.all([1, 2, 3].map(() => behave(handle, behaviors.plain)));
        if (childrenOf(process.pid).length > 1) return "several processes";
        await sleep(40);
      }
      return "one process";
    },
  },
  shareBatches: {
    given: true,
    backends: builtin,
    look: async ({ runtime }) => {
      const handle = await runtime.load("builtin");
      batches.length = 0;
      await Promise.all(Array.from({ length: 8 }, (_, index) => runtime.embed([`text ${index}`], { model: handle })));
      return batches.length;
    },
  },
  textThreads: {
    given: { maxCharacters: 10, timeout: "5s" },
    backends: builtin,
    look: ({ runtime }) => codeOf(runtime.embed(["a text that is long ".repeat(5000)], { model: "builtin" })),
  },
  constraintThreads: {
    given: { timeout: "5s", timePerMinute: 0, cacheBytes: 1_000_000 },
    backends: builtin,
    look: ({ runtime }) =>
      codeOf(runtime.generate("a", { model: `${sharedData}tiny-random-llama`, constraint: { type: "json" }, maxNewTokens: 1 })),
  },
  placement: {
    given: "pool",
    backends: (loads) => [
      scriptedBackend("onnx", {
        availability: {
          present: true,
          library: { name: "onnx", version: "1.0.0" },
          devices: [0, 1].map((index) => ({ device: { type: "cuda", index }, state: "present", reason: "scripted" })),
        },
        onLoad: (_files, { type, index }, options) => void loads.push({ target: `onnx:${type}:${index}`, options }),
      }),
    ],
    look: async ({ runtime, loads }) => {
      await runtime.load(model);
      return loads.length;
    },
  },
  ranks: {
    given: 3,
    backends: builtin,
    both: { placement: "pipeline" },
    look: async ({ runtime }) => {
      await runtime.load(model);
      return childrenOf(process.pid).length;
    },
  },
  maxMemory: { given: 10, look: loadOutcome },
  maxDeviceMemory: { given: { cuda: 10 }, both: { target: "onnx:cuda", memoryWait: 1 }, look: loadOutcome },
  maxLoadedModels: {
    given: 1,
    both: { memoryWait: 1 },
    look: async ({ runtime }) => {
      await runtime.load(model);
      return codeOf(runtime.load(otherModel));
    },
  },
  memoryWait: {
    given: 1,
    both: { maxLoadedModels: 1 },
    look: async ({ runtime }) => {
      const first = await runtime.load(model);
      const second = codeOf(runtime.load(otherModel));
      await sleep(500);
      await first.dispose();
      return second;
    },
  },
  keepAlive: {
    given: 1,
    look: async ({ runtime }) => {
      await (await runtime.load(model)).dispose();
      await sleep(100);
      return (await runtime.loaded()).length;
    },
  },
  whileCompiling: {
    given: "next",
    backends: (loads) => {
      const compiled = scriptedBackend("onnx");
      const capabilities: typeof compiled.capabilities = (device) => ({ ...compiled.capabilities(device), compiles: true });
      const onLoad: NonNullable<Parameters<typeof scriptedBackend>[1]>["onLoad"] = (_files, _device, options) =>
        void loads.push({ target: "wasm:cpu", options });
      return [{ ...compiled, capabilities }, scriptedBackend("wasm", { onLoad })];
    },
    look: async ({ runtime, loads }) => [await codeOf(runtime.load(model)), loads.length],
  },
  failover: {
    given: true,
    backends: scripted(true),
    look: async ({ runtime }) => {
      const handle = await runtime.load(model);
      return [await codeOf(handle.run(inputs)), handle.target];
    },
  },
  maxProcessMemory: {
    given: "1GB",
    backends: () => [failing()],
    look: async ({ runtime }) => (await runtime.load(model)).decision.selected?.host, // test/runtime/supervision.long.test.ts fills processes
  },
  maxProcessGrowth: {
    given: 1,
    backends: () => [failing()],
    both: { host: "process", growthIdle: "1ms" },
    look: restartsWhenIdle,
  },
  growthIdle: {
    given: "1ms",
    backends: () => [failing()],
    both: { host: "process", maxProcessGrowth: 1 },
    look: restartsWhenIdle,
  },
  turnTokens: {
    given: 4,
    both: { reservedSequences: 0 },
    backends: writing,
    look: async (scene) => (await write(scene)).preemptions,
  },
  reservedSequences: { given: 0, backends: writing, look: async (scene) => (await write(scene)).preemptions },
  maxParkedMemory: { given: 1, both: { turnTokens: 4 }, backends: writing, look: async (scene) => (await write(scene)).computed },
  unlistedMembers: {
    given: true,
    backends: builtin,
    look: async ({ runtime }) => {
      const schema = { type: "object", properties: {} };
      const call = { model: `${sharedData}tiny-random-llama`, constraint: { type: "schema", schema }, maxNewTokens: 12 } as const;
      return (await runtime.generate("a", call)).results[0]?.finishReason; // an object without members ends at once
    },
  },
  maxTraceTime: { given: "7s", look: loadOptions },
  maxTraceMemory: { given: 1, backends: builtin, look: loadOutcome },
  maxPictureMemory: {
    given: "8191B",
    backends: builtin,
    look: ({ runtime }) =>
      codeOf(runtime.classifyImage(`${sharedData}tiny-random-vit/same-size.png`, { model: `${sharedData}tiny-random-vit` })),
  },
  maxRunMemory: {
    given: 1,
    look: async ({ runtime }) => codeOf((await runtime.load(model)).run(inputs)),
  },
  maxCrashes: {
    given: 1,
    backends: () => [failing()],
    both: { host: "process" },
    look: async ({ runtime }) => {
      const handle = await runtime.load(model);
      return [await behave(handle, behaviors.exit), await behave(handle, behaviors.plain)];
    },
  },
  crashWindow: {
    given: "50ms",
    backends: () => [failing()],
    both: { host: "process", maxCrashes: 1 },
    look: async ({ runtime }) => {
      const handle = await runtime.load(model);
      await behave(handle, behaviors.exit);
      for (;;) {
        const error = await handle.run(plain).then(
          () => undefined,
          (thrown: unknown) => thrown as InferyardError,
        );
        if (error === undefined || (error.retryAfterMs ?? 0) > 1000) return error?.code ?? "done";
        await sleep(error.retryAfterMs); // until the window is over
      }
    },
  },
  loadTimeout: {
    given: 200,
    backends: () => [failing({ onLoad: "hang", gate: join(folder, "gate") })],
    both: { host: "process" },
    look: async ({ runtime }) => {
      return codeOf(runtime.load(model, { signal: AbortSignal.timeout(1500) }));
    },
  },
  runTimeout: {
    given: 500,
    backends: () => [failing()],
    both: { host: "process" },
    look: async ({ runtime }) => {
      const handle = await runtime.load(model);
      const data = Float32Array.of(behaviors.hang, 0);
      return codeOf(handle.run({ x: { dataType: "float32", shape: [2], data } }, { signal: AbortSignal.timeout(800) }));
    },
  },
  offline: {
    given: true,
    look: async ({ runtime }) => {
      vi.stubEnv("HF_ENDPOINT", "http://127.0.0.1:9"); // a port that nobody listens on
      const outcome = await codeOf(runtime.load("hf:owner/model", { signal: AbortSignal.timeout(500) }));
      vi.unstubAllEnvs();
      return outcome;
    },
  },
  onEvent: {
    given: ({ type }) => events.push(type),
    look: async ({ runtime }) => {
      events.length = 0;
      await runtime.load(model);
      return events.length;
    },
  },
  onBatch: {
    given: (batch) => batches.push(batch),
    backends: builtin,
    look: async ({ runtime }) => {
      batches.length = 0;
      await runtime.embed(["a text"], { model: "builtin" });
      return batches.length;
    },
  },
};
const batches: unknown[] = [];

/** Settings whose cases count what these functions are told. */
const watched: Partial<Record<keyof RuntimeSettings, RuntimeSettings>> = {
  shareBatches: { onBatch: (batch) => batches.push(batch) },
};

async function seen(
  { look, both = {}, backends = scripted() }: Case<unknown>,
  own: RuntimeSettings,
  isSet = false,
): Promise<unknown> {
  const loads: Scene["loads"] = [];
  const runtime = await createRuntime({ ...both, ...own, backends: backends(loads) });
  try {
    return await look({ runtime, loads, isSet });
  } finally {
    await runtime.dispose({ timeout: 0 });
  }
}

describe("a setting of a runtime has an effect", () => {
  it("each one is in the table", () => {
    expect(Object.keys(settings).sort()).toEqual([...runtimeSettingNames].sort());
  });

  it.each(Object.entries(settings) as [keyof RuntimeSettings, Case<unknown>][])("%s", async (name, each) => {
    if (["constraintThreads", "unlistedMembers"].includes(name) && !hasSharedData) return; // need a language model
    const without = await seen(each, watched[name] ?? {});
    const with_ = await seen(each, { ...watched[name], [name]: each.given }, true);
    expect(with_).not.toEqual(without);
  });
});

describe("an option of a load has an effect", () => {
  const aborted = new AbortController();
  aborted.abort();
  const own = {
    variant: "nothing",
    kind: "language",
    signal: aborted.signal,
    ...Object.fromEntries(Object.entries({ ...constraints, ...loadSettings }).map(([name, { given }]) => [name, given])),
  };

  it("each one is in the table", () => {
    expect(Object.keys(own).sort()).toEqual([...modelOptionNames].sort());
  });

  it.each(Object.entries(own))("%s", async (name, value) => {
    const look =
      (options: ModelOptions): Look =>
      async ({ runtime, loads }) => [await codeOf(runtime.load(model, options)), loads];
    const without = await seen({ given: undefined, look: look({}) }, {});
    expect(await seen({ given: undefined, look: look({ [name]: value }) }, {})).not.toEqual(without);
  });
});

describe("a setting of inferyard.yaml has an effect", () => {
  it("each one is that of a runtime above, of a call, or of the server", () => {
    const ofCalls = ["model", "variant", "batchTokens"]; // test/cli/option-kinds.long.test.ts and test/tasks/every-option.test.ts see them
    const ofServer = ["server"]; // test/server/serve-settings.test.ts
    const known = new Set([...Object.keys(settings), ...ofCalls, ...ofServer, "library", "xla"]);
    expect(settingNames.filter((name) => !known.has(name))).toEqual([]);
  });

  it("library", async () => {
    const directory = mkdtempSync(join(folder, "settings-"));
    const reason = async (): Promise<unknown> => {
      const { stdout } = await inferyard(["backends", "--json"], { directory });
      const reports = JSON.parse(stdout) as { backend: string; availability: { reason?: string } }[];
      return reports.find(({ backend }) => backend === "library")?.availability.reason;
    };
    expect(await reason()).toBe("no llama.cpp library is configured");
    writeFileSync(join(directory, "inferyard.yaml"), "library: ./nowhere.so\n");
    expect(await reason()).toMatch(/nowhere\.so cannot be read: there is no such file/);
  });

  it("xla", async () => {
    const directory = mkdtempSync(join(folder, "settings-"));
    const said = async (environment: Record<string, string>): Promise<unknown> => {
      const { stdout } = await inferyard(["backends", "--json"], { directory, environment });
      return (JSON.parse(stdout) as { backend: string }[]).find(({ backend }) => backend === "xla");
    };
    expect(await said({ INFERYARD_XLA_PLUGIN: "./nowhere.so" })).not.toEqual(await said({}));
  });
});
