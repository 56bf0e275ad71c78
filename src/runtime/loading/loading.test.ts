import { describe, expect, it } from "vitest";
import type { LoadOptions } from "../../contract/backend.ts";
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { HostPolicy } from "../selection/host-selection.ts";
import { inlineHost } from "../../hosts/inline.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { type ScriptedBackend, type ScriptedBackendOptions, scriptedBackend } from "../../testing/scripted-backend.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { type VerifiedModel, type LoadingContext, explainSelection, loadFirstCandidate } from "./loading.ts";
import type { LoadRequest } from "../selection/load-request.ts";
import { select } from "../selection/selection.ts";
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import type { SelectionFacts } from "../selection/selection-facts.ts";
import type { AnswerCheck } from "./verification.ts";
import { type ConstraintOptions, type Constraints, mergeConstraints } from "../targets/constraints.ts";

const variant: Variant = { name: "fp32", aliases: [], format: "onnx", path: "/m/model.onnx", bytes: 100, config: {} };
const manifest: Manifest = {
  reference: "./m",
  name: "m",
  directory: "/m",
  source: "file",
  tasks: [],
  variants: [variant],
  selection: { backends: [], fallbacks: [] },
  requirements: {},
};

const fails = (
  code: "LOAD_FAILED" | "MODEL_INVALID" | "HOST_DIED" | "OUT_OF_MEMORY",
  message: string,
): ScriptedBackendOptions => ({
  onLoad: () => {
    throw new InferyardError(code, message, { remedy: `mend ${message}` });
  },
});
const answers = (...data: number[]): ScriptedBackendOptions => ({
  onRun: () => ({ y: { dataType: "float32", shape: [2], data: Float32Array.from(data) } satisfies Tensor }),
});

interface Scene {
  readonly constraints?: ConstraintOptions;
  readonly checkAnswers?: AnswerCheck;
  readonly signal?: AbortSignal;
  readonly manifest?: Manifest;
  readonly settings?: UserLoadSettings;
}

async function load(backends: readonly ScriptedBackend[], scene: Scene = {}): Promise<VerifiedModel> {
  const context: LoadingContext = {
    backends,
    hosts: { inline: inlineHost(), worker: inlineHost(), process: inlineHost() },
    host: { blocking: "worker" },
    threads: (wanted) => Math.min(wanted ?? 2, 2),
    checkAnswers: scene.checkAnswers ?? (async () => undefined),
    computeDigest: async () => "abc",
  };
  const constraints = mergeConstraints(scene.constraints ?? {});
  const request = { settings: scene.settings ?? {} };
  return loadFirstCandidate(context, await selected(backends, scene.manifest, constraints, request), scene.signal);
}

async function selected(
  backends: readonly ScriptedBackend[],
  chosen: Manifest = manifest,
  constraints: Constraints = mergeConstraints(),
  request: LoadRequest = { settings: {} },
): Promise<SelectionOutcome> {
  const known = await facts(backends);
  return { selections: select(known, chosen, constraints, request), facts: known, manifest: chosen, constraints, request };
}

async function facts(backends: readonly ScriptedBackend[]): Promise<SelectionFacts> {
  const known = backends.map(async (backend) => ({
    name: backend.name,
    availability: await backend.probe({ machine: {} as never, run: false }),
    capabilities: backend.capabilities,
  }));
  return { backends: await Promise.all(known), availableMemory: 1e9, deviceFacts: [], openCircuits: new Map() };
}

async function refusal(work: Promise<unknown>): Promise<InferyardError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof InferyardError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

describe("a model of several variants", () => {
  const named = (name: string, precision: "fp32" | "int8"): Variant => ({ ...variant, name, precision, path: `/m/${name}.onnx` });
  const several: Manifest = { ...manifest, variants: [named("fp32", "fp32"), named("int8", "int8"), named("other", "fp32")] };
  const failsBut = (
    working: readonly string[],
    code: "MODEL_INVALID" | "OUT_OF_MEMORY" = "MODEL_INVALID",
  ): ScriptedBackendOptions => ({
    onLoad: ({ path }) => {
      if (!working.some((name) => path === `/m/${name}.onnx`)) throw new InferyardError(code, `${path} is broken`);
    },
  });

  it("is loaded with the next one where the first fails on all targets, that of the same precision first", async () => {
    const backends = [scriptedBackend("onnx", failsBut(["int8", "other"])), scriptedBackend("wasm", failsBut([]))];
    const { decision, variant: loaded } = await load(backends, { manifest: several });
    expect(loaded.name).toBe("other");
    expect(decision.model.variant).toBe("other");
    expect(decision.candidates.map(({ target, variant: tried, verdict }) => [target, tried, verdict])).toEqual([
      ["onnx:cpu", "fp32", "failed"],
      ["wasm:cpu", "fp32", "failed"],
      ["onnx:cpu", "other", "selected"],
      ["wasm:cpu", undefined, "not-tried"],
      ["onnx:cpu", undefined, "not-tried"],
      ["wasm:cpu", undefined, "not-tried"],
    ]);
  });

  it("is loaded with its first variant wherever that runs", async () => {
    const backends = [scriptedBackend("onnx", failsBut(["int8"])), scriptedBackend("wasm", failsBut(["fp32"]))];
    const { decision } = await load(backends, { manifest: several });
    expect([decision.selected?.target, decision.model.variant]).toEqual(["wasm:cpu", "fp32"]);
  });

  it("is refused without trying others where the machine is to blame, and where the variant was asked for", async () => {
    const onnx = (code: "MODEL_INVALID" | "OUT_OF_MEMORY") => [scriptedBackend("onnx", failsBut(["other"], code))];
    expect((await refusal(load(onnx("OUT_OF_MEMORY"), { manifest: several }))).message).not.toContain("int8");
    const one = { ...several, variants: several.variants.slice(0, 1) };
    expect((await refusal(load(onnx("MODEL_INVALID"), { manifest: one }))).code).toBe("MODEL_INVALID");
  });

  it("is refused with a line for each variant that was tried", async () => {
    const error = await refusal(load([scriptedBackend("onnx", failsBut([]))], { manifest: several }));
    for (const name of ["fp32", "int8", "other"]) expect(error.message).toContain(`onnx:cpu ${name}`);
  });

  it("names the variants that could not be read", async () => {
    const unreadable = [{ name: "fp32", aliases: [], code: "MODEL_INVALID", reason: "./m/model.onnx is empty" } as const];
    const { decision } = await load([scriptedBackend("onnx")], { manifest: { ...manifest, unreadable } });
    expect(decision.model.unreadable).toEqual([{ variant: "fp32", reason: "./m/model.onnx is empty" }]);
  });
});

describe("the load loop", () => {
  it("stops at the first candidate that holds, and records every one", async () => {
    const [first, second] = [scriptedBackend("onnx"), scriptedBackend("wasm")];
    const { decision } = await load([first, second]);
    expect(decision.selected).toMatchObject({
      target: "onnx:cpu",
      device: "cpu",
      host: "inline",
      library: { name: "onnx", version: "1.0.0" },
    });
    expect(decision.candidates).toMatchObject([
      { target: "onnx:cpu", verdict: "selected", stage: "verify" },
      { target: "wasm:cpu", verdict: "not-tried", stage: "load" },
    ]);
    expect(decision.model).toMatchObject({ reference: "./m", format: "onnx", variant: "fp32", digest: "sha256:abc" });
    expect(second.calls).toEqual(["probe"]);
  });

  it("falls back when a load fails, and says why", async () => {
    const { decision } = await load([scriptedBackend("onnx", fails("LOAD_FAILED", "a broken driver")), scriptedBackend("wasm")]);
    expect(decision.candidates[0]).toMatchObject({
      verdict: "failed",
      stage: "load",
      reason: "a broken driver",
      remedy: "mend a broken driver",
    });
    expect(decision.candidates[0]?.milliseconds).toBeGreaterThanOrEqual(0);
    expect(decision.selected?.target).toBe("wasm:cpu");
  });

  it("falls back when the host dies while loading", async () => {
    const { decision } = await load([scriptedBackend("onnx", fails("HOST_DIED", "the worker ended")), scriptedBackend("wasm")]);
    expect(decision.selected?.target).toBe("wasm:cpu");
  });

  it("throws on what is not a refusal: a bug in a backend is not hidden by a fallback", async () => {
    const broken = scriptedBackend("onnx", {
      onLoad: () => {
        throw new TypeError("x is not a function");
      },
    });
    await expect(load([broken, scriptedBackend("wasm")])).rejects.toThrow("x is not a function");
  });

  it("keeps what the engine itself said as evidence, not what was asked for", async () => {
    const { decision } = await load([scriptedBackend("onnx", { evidence: ["187 nodes on CPUExecutionProvider"] })]);
    expect(decision.selected?.evidence).toEqual([
      "a probe input ran, and its output is finite",
      "187 nodes on CPUExecutionProvider",
    ]);
  });

  it("a file that is not the one its manifest describes is MODEL_INVALID", async () => {
    const other = { ...manifest, variants: [{ ...variant, sha256: "def" }] };
    const error = await refusal(load([scriptedBackend("onnx")], { manifest: other }));
    expect(error.code).toBe("MODEL_INVALID");
    expect(error.message).toContain("its sha256 is abc, not def");
  });

  it("replicas have the settings of the primary instance, but for those that are changed", async () => {
    const seen: unknown[] = [];
    const backend = scriptedBackend("onnx", { onLoad: (_model, _device, options) => void seen.push(options) });
    const loaded = await load([backend], { settings: { threads: 2, graphOptimization: "basic", memoryArena: false } });
    await loaded.loadReplica({ threads: 1 });
    expect(seen).toEqual([
      { threads: 2, graphOptimization: "basic", memoryArena: false },
      { threads: 1, graphOptimization: "basic", memoryArena: false },
    ]);
  });

  it("holds the digest the manifest states, and passes clamped threads to backends that have threads", async () => {
    const seen: unknown[] = [];
    const backend = scriptedBackend("onnx", { onLoad: (_model, _device, options) => void seen.push(options.threads) });
    const stated = { ...manifest, variants: [{ ...variant, sha256: "ABC" }] };
    const loaded = await load([backend], { manifest: stated });
    expect(loaded.decision.model.digest).toBe("sha256:abc");
    await loaded.loadReplica({ threads: 99 }); // clamped
    expect(seen).toEqual([2, 2]);
    const without = scriptedBackend("onnx", {
      capabilities: { options: [] },
      onLoad: (_model, _device, options) => void seen.push(options.threads),
    });
    await load([without]);
    expect(seen.at(-1)).toBeUndefined();
  });

  it("is cancelled between candidates", async () => {
    const controller = new AbortController();
    const first = scriptedBackend("onnx", {
      onLoad: () => {
        controller.abort();
        throw new InferyardError("LOAD_FAILED", "slow");
      },
    });
    const second = scriptedBackend("wasm");
    expect((await refusal(load([first, second], { signal: controller.signal }))).code).toBe("ABORTED");
    expect(second.calls).toEqual(["probe"]);
  });
});

describe("verification", () => {
  it("a model whose probe is not finite is disposed, and the next candidate is tried", async () => {
    const broken = scriptedBackend("onnx", answers(1, Number.NaN));
    const { decision } = await load([broken, scriptedBackend("wasm")]);
    expect(decision.candidates[0]).toMatchObject({ verdict: "failed", stage: "verify" });
    expect(decision.candidates[0]?.reason).toContain('not a number in output "y", element 1');
    expect(broken.calls).toContain("dispose model");
    expect(decision.selected?.target).toBe("wasm:cpu");
  });

  it("a model that gives no number for zeros is asked about ones before the engine is blamed", async () => {
    const asked: unknown[] = [];
    const reciprocal = scriptedBackend("onnx", {
      onRun: (inputs) => {
        const [given] = Object.values(inputs);
        asked.push(given?.data[0]);
        return { y: { dataType: "float32", shape: [1], data: Float32Array.of(1 / Number(given?.data[0])) } };
      },
    });
    const { decision } = await load([reciprocal]);
    expect(decision.selected?.target).toBe("onnx:cpu");
    expect(asked.map(Number)).toEqual([0, 1]);
  });

  it("a model that fails while running the probe is a failed candidate, whatever the code", async () => {
    const failing = scriptedBackend("onnx", {
      onRun: () => {
        throw new InferyardError("RUN_FAILED", "illegal instruction");
      },
    });
    const { decision } = await load([failing, scriptedBackend("wasm")]);
    expect(decision.candidates[0]).toMatchObject({ verdict: "failed", stage: "verify", reason: "illegal instruction" });
  });

  it("known answers that do not hold send it to the next candidate; those that hold are evidence", async () => {
    const checkAnswers: AnswerCheck = async (model) => {
      if (model.library.name === "onnx") throw new InferyardError("VERIFICATION_FAILED", "off by 0.5");
      return "3 known answers held";
    };
    const { decision } = await load([scriptedBackend("onnx"), scriptedBackend("wasm")], { checkAnswers });
    expect(decision.candidates[0]).toMatchObject({ verdict: "failed", stage: "verify", reason: "off by 0.5" });
    expect(decision.selected?.evidence).toContain("3 known answers held");
  });

  it("a caller who cancels during verification is not a failed candidate", async () => {
    const controller = new AbortController();
    const backend = scriptedBackend("onnx", {
      onRun: () => {
        controller.abort();
        throw new InferyardError("ABORTED", "the caller cancelled this call");
      },
    });
    expect((await refusal(load([backend], { signal: controller.signal }))).code).toBe("ABORTED");
    expect(backend.calls).toContain("dispose model");
  });

  it("uses the manifest's own probe, and says when no probe could be made", async () => {
    const seen: unknown[] = [];
    const backend = scriptedBackend("onnx", {
      onRun: (inputs) => (seen.push(inputs["x"]?.data), inputs["x"] ? { y: inputs["x"] } : {}),
    });
    const x: Tensor = { dataType: "float32", shape: [2], data: Float32Array.of(3, 4) };
    await load([backend], { manifest: { ...manifest, probe: { kind: "tensors", inputs: { x } } } });
    expect(seen).toEqual([Float32Array.of(3, 4)]);
  });
});

describe("when no candidate holds", () => {
  it("one error lists every candidate with its reason and what would mend it", async () => {
    const error = await refusal(
      load([
        scriptedBackend("onnx", fails("LOAD_FAILED", "no driver")),
        scriptedBackend("wasm", fails("OUT_OF_MEMORY", "no memory")),
      ]),
    );
    expect(error.code).toBe("NO_BACKEND");
    expect(error.message.split("\n")).toEqual([
      "no backend on this machine can run m",
      "  onnx:cpu  load: no driver  (mend no driver)",
      "  wasm:cpu  load: no memory  (mend no memory)",
    ]);
    expect(error.data["decision"]).toMatchObject({ selected: null, candidates: [{ verdict: "failed" }, { verdict: "failed" }] });
  });

  it("a file that every backend calls damaged is MODEL_INVALID", async () => {
    const error = await refusal(
      load([
        scriptedBackend("onnx", fails("MODEL_INVALID", "cut short")),
        scriptedBackend("wasm", fails("MODEL_INVALID", "cut short")),
      ]),
    );
    expect(error.code).toBe("MODEL_INVALID");
  });

  it("a required target that cannot run is BACKEND_UNAVAILABLE, and says what a preference would do", async () => {
    const error = await refusal(
      load([scriptedBackend("onnx", fails("LOAD_FAILED", "no driver")), scriptedBackend("wasm")], {
        constraints: { target: "onnx" },
      }),
    );
    expect(error.code).toBe("BACKEND_UNAVAILABLE");
    expect(error.message).toBe("onnx:cpu cannot run m\n  load: no driver");
    expect(error.remedy).toContain(
      'mend no driver; you required this target, so nothing else was tried; `prefer: ["onnx"]` would fall back',
    );
  });

  it("a constraints that leaves nothing is told as such", async () => {
    const error = await refusal(
      load([scriptedBackend("onnx"), scriptedBackend("wasm")], { constraints: { exclude: ["onnx", "wasm"] } }),
    );
    expect(error.message).toContain("onnx:cpu  constraints: you excluded onnx");
    expect(error.code).toBe("NO_BACKEND");
  });

  it("a runtime without backends says so", async () => {
    const error = await refusal(load([]));
    expect(error.code).toBe("NO_BACKEND");
    expect(error.message).toContain("no backend is registered");
  });
});

describe("hosts", () => {
  const hostOf = async (host: HostPolicy, blocking: boolean, entry: boolean): Promise<string | undefined> => {
    const models = [{ kind: "tensor", format: "onnx", architectures: "any", runsIn: blocking ? "thread" : "caller" }] as const;
    const base = scriptedBackend("onnx", { capabilities: { models } });
    const backend = entry ? { ...base, entry: { module: import.meta.url, export: "x" } } : base;
    const context: LoadingContext = {
      backends: [backend],
      hosts: {
        inline: inlineHost(),
        worker: { ...inlineHost(), name: "worker" },
        process: { ...inlineHost(), name: "process" },
      },
      host,
      threads: () => 1,
      checkAnswers: async () => undefined,
      computeDigest: async () => "abc",
    };
    const { decision } = await loadFirstCandidate(context, await selected([base]));
    return decision.selected?.host;
  };
  it.each([
    ["a backend that blocks its thread gets a worker", { blocking: "worker" }, true, true, "worker"],
    ["and a process where memory is limited", { blocking: "process" }, true, true, "process"],
    ["one that does not runs inline", { blocking: "process" }, false, true, "inline"],
    ["one without an entry runs inline", { blocking: "process" }, true, false, "inline"],
    ["the user's choice holds: inline", { requested: "inline", blocking: "process" }, true, true, "inline"],
    ["the user's choice holds: worker", { requested: "worker", blocking: "process" }, false, true, "worker"],
    ["the user's choice holds: process", { requested: "process", blocking: "worker" }, false, true, "process"],
  ] as const)("%s", async (_name, host, blocking, entry, expected) => expect(await hostOf(host, blocking, entry)).toBe(expected));
});

describe("explaining without loading", () => {
  it("marks the first open candidate, and loads nothing", async () => {
    const backends = [
      scriptedBackend("onnx", { availability: { present: false, reason: "not installed" } }),
      scriptedBackend("native"),
      scriptedBackend("wasm"),
    ];
    const { candidates } = explainSelection(await selected(backends));
    expect(candidates.map(({ target, verdict }) => `${target} ${verdict}`)).toEqual([
      "onnx:cpu refused",
      "native:cpu would-run",
      "wasm:cpu not-tried",
    ]);
    expect(backends.flatMap(({ calls }) => calls)).toEqual(["probe", "probe", "probe"]);
  });
});

describe("a model whose files can be read in several ways", () => {
  const answered: Manifest = { ...manifest, probe: { kind: "text", answers: [] } };
  /** A backend that offers two ways, unless a layout is asked for. */
  function choosing(name: string, seen: LoadOptions[] = []): ScriptedBackend {
    const ways = ["x86", "arm"].map((i2sLayout) => ({ name: `the order ${i2sLayout}`, engine: { i2sLayout } }));
    return {
      ...scriptedBackend(name, { onLoad: (_model, _device, options) => void seen.push(options) }),
      alternatives: async (_model, { engine }) => (engine?.["i2sLayout"] === undefined ? ways : []),
    };
  }

  /** Known answers that hold at the given loads, counted from 1. */
  function answersHoldAt(...loads: number[]): AnswerCheck {
    let load = 0;
    return async () => {
      load += 1;
      if (!loads.includes(load)) throw new InferyardError("VERIFICATION_FAILED", `load ${load} is off by 0.5`);
      return undefined;
    };
  }

  it("is read in the way in which known answers hold, and the evidence says which", async () => {
    const seen: LoadOptions[] = [];
    const { decision } = await load([choosing("native", seen)], { manifest: answered, checkAnswers: answersHoldAt(2) });
    expect(decision.selected?.evidence).toContain("the known answers hold with the order arm, and not with the order x86");
    expect(seen.map(({ engine }) => engine)).toEqual([{ i2sLayout: "x86" }, { i2sLayout: "arm" }]);
    const first = await load([choosing("native")], { manifest: answered, checkAnswers: answersHoldAt(1) });
    expect(first.decision.selected?.evidence).toContain("the known answers hold with the order x86");
  });

  it("is refused with what each way gave where answers hold in none, and is read once where one is asked for or there are no answers", async () => {
    const failed = await load([choosing("native"), scriptedBackend("wasm")], {
      manifest: answered,
      checkAnswers: answersHoldAt(3),
    });
    expect(failed.decision.candidates[0]).toMatchObject({
      verdict: "failed",
      reason:
        "the known answers hold with no way to read the weights: with the order x86: load 1 is off by 0.5; with the order arm: load 2 is off by 0.5",
    });
    const ofI2S = { ...answered, variants: [{ ...variant, tensorTypes: ["I2_S"] }] };
    const asked = { manifest: ofI2S, settings: { i2sLayout: "arm" } as const, checkAnswers: answersHoldAt(2) };
    const seen: LoadOptions[] = [];
    const error = await refusal(load([choosing("native", seen)], asked));
    expect(error.message).toContain("load 1 is off by 0.5");
    await load([choosing("native", seen)]);
    expect(seen.map(({ engine }) => engine)).toEqual([{ i2sLayout: "arm" }, undefined]);
  });
});
