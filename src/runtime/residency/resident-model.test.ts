import { afterEach, describe, expect, it, vi } from "vitest";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import { inlineHost } from "../../hosts/inline.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { type ScriptedBackend, type ScriptedBackendOptions, scriptedBackend } from "../../testing/scripted-backend.ts";
import { select } from "../selection/selection.ts";
import { type VerifiedModel, loadFirstCandidate } from "../loading/loading.ts";
import { ResidentModel, type ResidentModelOptions } from "./resident-model.ts";
import { mergeConstraints } from "../targets/constraints.ts";

const manifest: Manifest = {
  reference: "./m",
  name: "m",
  directory: "/m",
  source: "file",
  tasks: [],
  variants: [{ name: "fp32", aliases: [], format: "onnx", path: "/m/model.onnx", bytes: 100, config: {} }],
  selection: { backends: [], fallbacks: [] },
  requirements: {},
};
const x = { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } as const;
const inputs: TensorMap = { x };

/** The model on a scripted backend, by the real load loop; the calls of loading and verifying are forgotten. */
async function loadedOn(backend: ScriptedBackend): Promise<VerifiedModel> {
  const host = inlineHost();
  const availability = await backend.probe({ machine: {} as never, run: false });
  const facts = {
    backends: [{ name: backend.name, availability, capabilities: backend.capabilities }],
    availableMemory: 1e9,
    deviceFacts: [],
    openCircuits: new Map(),
  };
  const [constraints, request] = [mergeConstraints(), { settings: {} }];
  const loaded = await loadFirstCandidate(
    {
      backends: [backend],
      hosts: { inline: host, worker: host, process: host },
      host: { blocking: "worker" },
      threads: (wanted) => wanted ?? 4,
      checkAnswers: async () => undefined,
      computeDigest: async () => "abc",
    },
    { selections: select(facts, manifest, constraints, request), facts, manifest, constraints, request },
  );
  backend.calls.length = 0;
  return loaded;
}

/** A backend whose runs fail with a code after the probe of verification, `times` times. */
function failing(name: string, code: ErrorCode, times = Number.POSITIVE_INFINITY): ScriptedBackend {
  let runs = 0;
  const onRun = (given: TensorMap): TensorMap => {
    runs += 1;
    if (runs > 1 && runs <= times + 1) throw new InferyardError(code, `${name} failed`);
    return { y: given["x"] ?? x };
  };
  return scriptedBackend(name, { onRun });
}

interface Scene {
  readonly resident: ResidentModel;
  readonly moves: string[];
}

async function scene(first: ScriptedBackend, second: ScriptedBackend, over: Partial<ResidentModelOptions> = {}): Promise<Scene> {
  const moves: string[] = [];
  const failover: ResidentModelOptions["failover"] = async (failed, failure) => {
    moves.push(`${failed.target.backend} ${failure.code}`);
    return loadedOn(second);
  };
  return { resident: new ResidentModel(await loadedOn(first), { replicas: 1, failover, ...over }), moves };
}

describe("a run that fails", () => {
  it.each(["HOST_DIED", "OUT_OF_MEMORY"] as const)("with %s moves the model and is repeated once", async (code) => {
    const [first, second] = [failing("onnx", code), scriptedBackend("wasm")];
    const { resident, moves } = await scene(first, second);
    expect((await resident.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
    expect(moves).toEqual([`onnx ${code}`]);
    expect(resident.loaded.target.backend).toBe("wasm");
    expect(first.calls).toEqual(["run", "dispose model"]);
    await resident.run(inputs);
    expect(second.calls).toEqual(["run", "run"]);
  });

  it("fails in the end when the repeated run fails too: there is no third", async () => {
    const [first, second] = [failing("onnx", "HOST_DIED"), failing("wasm", "HOST_DIED")];
    const { resident, moves } = await scene(first, second);
    await expect(resident.run(inputs)).rejects.toMatchObject({ code: "HOST_DIED", message: "wasm failed" });
    expect(moves).toEqual(["onnx HOST_DIED"]);
  });

  it.each(["RUN_FAILED", "INPUT_INVALID", "ABORTED"] as const)("with %s is neither repeated nor moved", async (code) => {
    const first = failing("onnx", code);
    const { resident, moves } = await scene(first, scriptedBackend("wasm"));
    await expect(resident.run(inputs)).rejects.toMatchObject({ code });
    expect(moves).toEqual([]);
    expect(first.calls).toEqual(["run"]);
  });

  it("with something foreign is a bug, and is thrown on as it is", async () => {
    let runs = 0;
    const onRun: NonNullable<ScriptedBackendOptions["onRun"]> = (given) => {
      runs += 1;
      if (runs > 1) throw new TypeError("x is not a function");
      return { y: given["x"] ?? x };
    };
    const { resident, moves } = await scene(scriptedBackend("onnx", { onRun }), scriptedBackend("wasm"));
    await expect(resident.run(inputs)).rejects.toThrow(TypeError);
    expect(moves).toEqual([]);
  });

  it("is the caller's to repeat where failover is off", async () => {
    const resident = new ResidentModel(await loadedOn(failing("onnx", "HOST_DIED")), { replicas: 1 });
    await expect(resident.run(inputs)).rejects.toMatchObject({ code: "HOST_DIED", retryable: true });
  });

  it("beside others that fail at once: the model moves once, and all are repeated", async () => {
    const first = failing("onnx", "HOST_DIED");
    const second = scriptedBackend("wasm");
    const { resident, moves } = await scene(first, second);
    const results = await Promise.all([resident.run(inputs), resident.run(inputs), resident.run(inputs)]);
    expect(results).toHaveLength(3);
    expect(moves).toHaveLength(1);
    expect(first.calls.filter((call) => call === "dispose model")).toHaveLength(1);
    expect(second.calls).toEqual(["run", "run", "run"]);
  });

  it("tells why the model found no other place", async () => {
    const refusal = new InferyardError("NO_BACKEND", "nothing else can run it");
    const { resident } = await scene(failing("onnx", "HOST_DIED"), scriptedBackend("wasm"), {
      failover: () => Promise.reject(refusal),
    });
    await expect(resident.run(inputs)).rejects.toBe(refusal);
  });

  it("looks for another place again at the next failure, when there was none at the first", async () => {
    const second = scriptedBackend("wasm");
    let asked = 0;
    const failover = async (): Promise<VerifiedModel> => {
      asked += 1;
      if (asked === 1) throw new InferyardError("NO_BACKEND", "nothing else can run it");
      return loadedOn(second);
    };
    const { resident } = await scene(failing("onnx", "HOST_DIED"), second, { failover });
    await expect(resident.run(inputs)).rejects.toMatchObject({ code: "NO_BACKEND" });
    expect((await resident.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
  });
});

describe("replicas for bulk work", () => {
  it("are loaded with one thread each, at the first call, and kept", async () => {
    const threads: unknown[] = [];
    const backend = scriptedBackend("onnx", { onLoad: (_model, _device, options) => void threads.push(options.threads) });
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 3 });
    expect(threads).toEqual([4]);
    const [lanes, again] = await Promise.all([resident.replicas(), resident.replicas()]);
    expect(lanes).toHaveLength(3);
    expect(again).toHaveLength(3);
    expect(threads).toEqual([4, 1, 1, 1]);
    expect(lanes).not.toContain(resident);
  });

  it.each([0, 1])("%d replicas: the model itself does the work", async (replicas) => {
    const resident = new ResidentModel(await loadedOn(scriptedBackend("onnx")), { replicas });
    expect(await resident.replicas()).toEqual([resident]);
  });

  it("when one does not load, those that did are given back and the model itself does the work", async () => {
    let loads = 0;
    const backend = scriptedBackend("onnx", {
      onLoad: () => {
        loads += 1;
        if (loads === 3) throw new InferyardError("OUT_OF_MEMORY", "no memory");
      },
    });
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2 });
    expect(await resident.replicas()).toEqual([resident]);
    expect(backend.calls).toEqual(["load cpu", "load cpu", "dispose model"]);
    expect(await resident.replicas()).toEqual([resident]);
    expect(loads).toBe(3);
  });
});

describe("replicas that were idle", () => {
  afterEach(() => void vi.useRealTimers());

  it("are unloaded, told to the booking, and loaded again for the next run of whoever holds them", async () => {
    vi.useFakeTimers();
    const backend = scriptedBackend("onnx");
    const corrected: unknown[] = [];
    const booking = { grow: () => true, correct: (amounts: unknown) => void corrected.push(amounts) };
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2, booking });
    const count = (call: string): number => backend.calls.filter((each) => each === call).length;
    const [lane] = await resident.replicas();
    await vi.advanceTimersByTimeAsync(5_000);
    await lane!.run(inputs);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(count("dispose model")).toBe(0);
    const told = corrected.length;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(count("dispose model")).toBe(2);
    expect(corrected.length).toBe(told + 1);
    const loads = count("load cpu");
    expect((await lane!.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
    expect(count("load cpu")).toBe(loads + 2);
    await resident.dispose({ why: "disposed" });
    expect(count("dispose model")).toBe(5);
  });
});

describe("the primary instance, while replicas that share no memory with it work", () => {
  afterEach(() => void vi.useRealTimers());

  /** A model whose host can suspend it; runs on replicas take 100 ms. */
  async function suspendable(replicaBytes?: number): Promise<{ resident: ResidentModel; calls: string[]; corrected: unknown[] }> {
    let loads = 0;
    const calls: string[] = [];
    const backend = scriptedBackend("onnx", { onLoad: () => void (loads += 1) });
    const loaded = await loadedOn(backend);
    const note = (call: string) => async (): Promise<void> => void calls.push(call);
    const model = Object.assign(loaded.model, { suspend: note("suspend"), resume: note("resume"), replicaBytes });
    const loadReplica: VerifiedModel["loadReplica"] = async (settings) => {
      const replica = await loaded.loadReplica(settings);
      const run = async (given: TensorMap): Promise<TensorMap> => {
        calls.push("replica");
        await new Promise((resolve) => setTimeout(resolve, 100));
        return given;
      };
      return Object.assign(replica, { run });
    };
    const corrected: unknown[] = [];
    const booking = { grow: () => true, correct: (amounts: unknown) => void corrected.push(amounts) };
    return { resident: new ResidentModel({ ...loaded, model, loadReplica }, { replicas: 2, booking }), calls, corrected };
  }

  async function overlapFor(resident: ResidentModel, milliseconds: number): Promise<void> {
    const lanes = await resident.replicas();
    for (let passed = 0; passed < milliseconds; passed += 100) {
      const runs = lanes.map((lane) => lane.run(inputs));
      await vi.advanceTimersByTimeAsync(100);
      await Promise.all(runs);
    }
  }

  it("is suspended when it has not run for a while, leaves single runs to a replica, and is resumed when runs no longer overlap", async () => {
    vi.useFakeTimers();
    const { resident, calls, corrected } = await suspendable();
    await overlapFor(resident, 1500);
    expect(calls).not.toContain("suspend");
    await overlapFor(resident, 1500);
    expect(calls.filter((call) => call === "suspend")).toHaveLength(1);
    calls.length = 0;
    corrected.length = 0;
    const single = resident.run(inputs);
    await vi.advanceTimersByTimeAsync(100);
    await single;
    expect(calls).toEqual(["replica"]);
    await vi.advanceTimersByTimeAsync(4500);
    expect(calls).toEqual(["replica", "resume"]);
    expect(corrected).toHaveLength(1);
    await resident.run(inputs);
    expect(calls).toEqual(["replica", "resume"]); // on the primary instance
    await resident.dispose({ why: "disposed" });
  });

  it("stays where replicas share its memory", async () => {
    vi.useFakeTimers();
    const { resident, calls } = await suspendable(1000);
    await overlapFor(resident, 4000);
    expect(calls).not.toContain("suspend");
    await resident.dispose({ why: "disposed" });
  });
});

describe("unloading", () => {
  it("frees the model and its replicas, reports it, and refuses further use", async () => {
    const backend = scriptedBackend("onnx");
    const gone: string[] = [];
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2, onDispose: (target) => void gone.push(target) });
    await resident.replicas();
    await resident.dispose({ why: "disposed" });
    expect(backend.calls.filter((call) => call === "dispose model")).toHaveLength(3);
    expect(gone).toEqual(["onnx:cpu"]);
    await expect(resident.run(inputs)).rejects.toMatchObject({ code: "DISPOSED", remedy: "load it again" });
    await expect(resident.replicas()).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("in the middle of a move frees both places", async () => {
    const [first, second] = [failing("onnx", "HOST_DIED"), scriptedBackend("wasm")];
    let arrive: () => void = () => {};
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    const { resident } = await scene(first, second, { failover: () => arrival.then(() => loadedOn(second)) });
    const running = resident.run(inputs).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    const disposal = resident.dispose({ why: "disposed" });
    arrive();
    await Promise.all([running, disposal]);
    expect(first.calls).toContain("dispose model");
    expect(second.calls).toContain("dispose model");
  });
});

describe("runs that overlap", () => {
  /** Runs end when they are told to; each is listed by the number of the load it ran on. */
  function stalled(): { readonly backend: ScriptedBackend; readonly ran: number[]; readonly end: () => void } {
    const ran: number[] = [];
    const waiting: (() => void)[] = [];
    const base = scriptedBackend("onnx");
    let loads = 0;
    const backend: ScriptedBackend = {
      ...base,
      async load(model, device, options) {
        const number = loads;
        loads += 1;
        const loaded = await base.load(model, device, options);
        let runs = 0;
        const run: typeof loaded.run = async (given, how) => {
          runs += 1;
          if (number > 0 || runs > 1) {
            ran.push(number);
            await new Promise<void>((resolve) => waiting.push(resolve));
          }
          return loaded.run(given, how);
        };
        return { ...loaded, run };
      },
    };
    return { backend, ran, end: () => waiting.splice(0).forEach((resolve) => resolve()) };
  }

  const nextTask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("go to the replica with the fewest runs, or to the primary instance if it is idle", async () => {
    const { backend, ran, end } = stalled();
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2, spreadOverlappingRuns: true });
    const first = [resident.run(inputs), resident.run(inputs)]; // the second overlaps: replicas are loaded, and it waits for the first
    await nextTask();
    const more = Array.from({ length: 4 }, () => resident.run(inputs));
    await nextTask();
    expect(ran).toEqual([0, 0, 1, 2, 1, 2]);
    end();
    await Promise.all([...first, ...more]);
    const alone = resident.run(inputs);
    await nextTask();
    expect(ran.at(-1)).toBe(0);
    end();
    await alone;
  });

  it("load no replicas where those are for bulk work only, and use them when they are there", async () => {
    const { backend, ran, end } = stalled();
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2 });
    const first = [resident.run(inputs), resident.run(inputs)];
    await nextTask();
    expect(backend.calls.filter((call) => call.startsWith("load"))).toEqual([]);
    await resident.replicas();
    const third = resident.run(inputs);
    await nextTask();
    expect(ran).toEqual([0, 0, 1]);
    end();
    await Promise.all([...first, third]);
  });

  it("are run again on the model itself when a replica fails in a way that may pass, and failover is on", async () => {
    let loads = 0;
    const base = scriptedBackend("onnx");
    const backend: ScriptedBackend = {
      ...base,
      async load(model, device, options) {
        loads += 1;
        const loaded = await base.load(model, device, options);
        if (loads === 1) return loaded;
        return { ...loaded, run: () => Promise.reject(new InferyardError("HOST_DIED", "the replica died")) };
      },
    };
    const failover = (): Promise<VerifiedModel> => Promise.reject(new Error("not needed"));
    const [saved, lost] = [
      new ResidentModel(await loadedOn(backend), { replicas: 2, failover }),
      new ResidentModel(await loadedOn(((loads = 0), backend)), { replicas: 2 }),
    ];
    expect((await (await saved.replicas())[0]!.run(inputs))["y"]?.data).toEqual(Float32Array.of(2, 3));
    await expect((await lost.replicas())[0]!.run(inputs)).rejects.toMatchObject({ code: "HOST_DIED" });
  });

  it("are run on the model itself where a replica that died is not loaded again: its file was changed, or its circuit is open", async () => {
    for (const code of ["MODEL_INVALID", "CIRCUIT_OPEN"] as const) {
      let loads = 0;
      const base = scriptedBackend("onnx");
      const backend: ScriptedBackend = {
        ...base,
        async load(model, device, options) {
          loads += 1;
          const loaded = await base.load(model, device, options);
          return loads === 1 ? loaded : { ...loaded, run: () => Promise.reject(new InferyardError(code, "not again")) };
        },
      };
      const resident = new ResidentModel(await loadedOn(backend), { replicas: 2 });
      expect((await (await resident.replicas())[0]!.run(inputs))["y"]?.data, code).toEqual(Float32Array.of(2, 3));
    }
  });
});

describe("what a model and its replicas hold", () => {
  it("is booked before replicas are loaded; where it does not fit there are none", async () => {
    const corrected: unknown[] = [];
    const booking = { grow: () => false, correct: (amounts: unknown) => void corrected.push(amounts) };
    const backend = scriptedBackend("onnx");
    const resident = new ResidentModel(await loadedOn(backend), { replicas: 2, booking });
    expect(await resident.replicas()).toEqual([resident]);
    expect(backend.calls).toEqual([]);
  });

  it("is told when it changes, replicas included", async () => {
    const sizes = { bytes: 8 };
    const base = scriptedBackend("onnx");
    const backend: ScriptedBackend = {
      ...base,
      load: async (...given) => ({
        ...(await base.load(...given)),
        get memory() {
          return { bytes: sizes.bytes, measure: "resident" as const };
        },
      }),
    };
    sizes.bytes = 100e6;
    const corrected: unknown[] = [];
    const resident = new ResidentModel(await loadedOn(backend), {
      replicas: 2,
      booking: { grow: () => true, correct: ({ memory }) => void corrected.push(memory) },
    });
    await resident.run(inputs);
    sizes.bytes = 130e6;
    await resident.run(inputs);
    await resident.replicas();
    expect(corrected).toEqual([100e6, 130e6, 390e6]);
  });
});
