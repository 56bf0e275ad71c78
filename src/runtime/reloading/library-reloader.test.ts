import { describe, expect, it } from "vitest";
import type { Availability } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import type { ReloadableBackend } from "../../contract/reloading.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import type { TrialModel } from "../residency/model-loader.ts";
import { ResidentModel } from "../residency/resident-model.ts";
import { LibraryReloader } from "./library-reloader.ts";

const cpu = { type: "cpu", index: 0 };

/** A backend whose library is only a path. */
function backendOf(path: string | undefined): ReloadableBackend {
  return {
    name: "library",
    contractVersion: 1,
    probe: async () => ({ present: false, reason: "not probed" }),
    capabilities: () => ({ models: [], precisions: [], options: [] }),
    load: async () => {
      throw new Error("not loaded");
    },
    withLibrary: (next) => backendOf(next),
    libraryFile: async () =>
      path === undefined
        ? undefined
        : { name: "libllama.so", version: path, path, sha256: path, files: [{ name: path, sha256: path }] },
  };
}

/** A loaded model whose library is at `path`; `sign` is that of its logits. */
function verified(path: string, log: string[], { sign = 1, host = "process", backend = "library" } = {}): VerifiedModel {
  const model: HostedLanguageModel = {
    kind: "language",
    limits: { vocabulary: 8, cacheBytesPerToken: 1, hasEncoder: false },
    library: { name: "libllama.so", version: path },
    memory: { bytes: 1, measure: "allocated" },
    createSequence: async () => 1,
    forkSequence: async () => 1,
    decode: async (steps) => steps.map(() => Float32Array.from({ length: 8 }, (_, token) => sign * token)),
    truncateSequence: async () => {},
    releaseSequence: async () => {},
    evidence: async () => [],
    dispose: async () => void log.push(`freed ${path}`),
  };
  const selected = { target: `${backend}:cpu`, device: "cpu", library: model.library, host, evidence: [] };
  return {
    model,
    manifest: { reference: "tiny" } as VerifiedModel["manifest"],
    variant: {} as VerifiedModel["variant"],
    target: { backend, device: cpu },
    decision: { id: `decision on ${path}`, selected } as unknown as VerifiedModel["decision"],
    need: {},
    loadReplica: async () => model,
  };
}

interface Options {
  readonly loaded?: VerifiedModel;
  readonly availability?: Availability;
  readonly sign?: number;
  /** Called while a model is loaded beside the old one. */
  readonly onLoad?: () => void | Promise<void>;
}

/** A reloader with one model on the library "old". */
function setUp({ loaded, availability, sign = 1, onLoad = () => {} }: Options = {}) {
  const log: string[] = [];
  const resident = new ResidentModel(loaded ?? verified("old", log), { replicas: 1 });
  const residents = [resident];
  const backends = [backendOf("old"), { ...backendOf(undefined), name: "bare" }];
  const device = { device: cpu, state: "available", reason: "right tokens" } as const;
  const found = availability ?? { present: true, library: { name: "libllama.so", version: "new" }, devices: [device] };
  const reloader = new LibraryReloader({
    backends,
    facts: { run: async () => found, forget: (name: string) => void log.push(`forgot ${name}`) } as never,
    loader: {
      loadBeside: async (_resident, backend): Promise<TrialModel> => {
        await onLoad();
        const path = (await (backend as ReloadableBackend).libraryFile())?.path ?? "";
        return { loaded: verified(path, log, { sign }), promote: () => void log.push(`promoted ${path}`) };
      },
      dropTrial: async (_resident, trial) => trial.loaded.model.dispose(),
    },
    settings: { onEvent: ({ type }) => void log.push(type) },
    residency: {
      entries: () => residents.map((item) => ({ reference: "m", state: "idle", expiresAt: null, item })),
      items: async () => residents,
    },
  });
  const current = async (): Promise<string | undefined> => (await backends[0]?.libraryFile())?.path;
  return { reloader, resident, residents, backends, log, current };
}

describe("reloading a library", () => {
  it("switches backend and models at once, and frees the old model when its last caller has finished", async () => {
    const { reloader, resident, log, current } = setUp();
    const held = resident.holdLanguage();
    const reload = reloader.reload("new");
    await expect.poll(() => log).toContain("promoted new");
    expect(await current()).toBe("new");
    expect(resident.loaded.decision.id).toBe("decision on new");
    expect(resident.loaded.decision.selected?.evidence.at(-1)).toContain("answers as libllama.so old at 36 positions");
    expect(held.loaded.decision.id).toBe("decision on old");
    expect(log).not.toContain("freed old");
    held.release();
    expect(await reload).toMatchObject({
      backend: "library",
      before: { path: "old" },
      after: { path: "new" },
      validation: ["cpu: right tokens"],
      models: [{ reference: "tiny", target: "library:cpu", decisions: { before: "decision on old", after: "decision on new" } }],
    });
    expect(log).toEqual(["forgot library", "promoted new", "loaded", "freed old"]);
  });

  it("without a path reloads the file in use", async () => {
    const { reloader } = setUp();
    expect((await reloader.reload(undefined)).after.path).toBe("old");
  });

  const absent = { device: cpu, state: "absent", reason: "it crashed", milliseconds: 1 } as const;
  const library = { name: "libllama.so", version: "new" };
  it.each([
    ["is refused", { availability: { present: false, reason: "no function llama_decode" } }, "new: no function llama_decode"],
    [
      "fails on the device in use",
      { availability: { present: true, library, devices: [absent] } },
      "models run on cpu, and there it crashed",
    ],
    ["lacks the device in use", { availability: { present: true, library, devices: [] } }, "it has no such device"],
    ["answers otherwise", { sign: -1 }, "answers otherwise than the old one"],
    ["does not load a model", { onLoad: () => Promise.reject(new InferyardError("HOST_DIED", "it died")) }, "it died"],
  ] satisfies readonly [string, Options, string][])("a library that %s leaves the old one", async (_what, options, reason) => {
    const { reloader, resident, log, current } = setUp(options);
    await expect(reloader.reload("new")).rejects.toMatchObject({
      code: "RELOAD_FAILED",
      message: expect.stringContaining(reason),
      data: expect.objectContaining({ path: "new" }),
    });
    expect(await current()).toBe("old");
    expect(resident.loaded.decision.id).toBe("decision on old");
    expect(log.filter((line) => line !== "freed new")).toEqual([]);
  });

  it("refuses models outside of processes, other backends, and wrong options", async () => {
    const { reloader } = setUp({ loaded: verified("old", [], { host: "worker" }) });
    await expect(reloader.reload("new")).rejects.toMatchObject({
      code: "RELOAD_FAILED",
      remedy: expect.stringContaining("process"),
    });
    await expect(reloader.reload("new", { backend: "onnx" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(reloader.reload(undefined, { backend: "bare" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(reloader.reload("new", { tolerance: -1 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(() => reloader.reload("new", { force: true } as never)).toThrow("reloadLibrary has no option");
  });

  it("a library that is loaded without a model needs one device that works", async () => {
    const { reloader, residents, current } = setUp({ loaded: verified("old", [], { backend: "native" }) });
    expect((await reloader.reload("new")).models).toEqual([]);
    residents.length = 0;
    expect((await reloader.reload("newer")).before?.path).toBe("new");
    expect(await current()).toBe("newer");
    const broken = setUp({ availability: { present: true, library, devices: [absent] } });
    broken.residents.length = 0;
    await expect(broken.reloader.reload("new")).rejects.toThrow("cpu: it crashed");
  });

  it("models that are loaded or unloaded meanwhile are taken along, or left", async () => {
    const log: string[] = [];
    const late = new ResidentModel(verified("old", log), { replicas: 1 });
    const set = setUp({ onLoad: () => void (set.residents.includes(late) || set.residents.push(late)) });
    expect((await set.reloader.reload("new")).models).toHaveLength(2);
    expect(late.loaded.decision.id).toBe("decision on new");
    const gone = setUp({ onLoad: () => gone.resident.dispose({ why: "idle" }) });
    const report = await gone.reloader.reload("new").catch((error: unknown) => error);
    // It was held for the comparison, and its caller's model is gone.
    expect(report).toMatchObject({ models: [] });
    expect(gone.log).toContain("freed new");
  });

  it("reloads run one after the other, and an abort or the end of the runtime stops them before the switch", async () => {
    const { reloader, current } = setUp();
    const [first, second] = await Promise.all([reloader.reload("a"), reloader.reload("b")]);
    expect([first.after.path, second.before?.path, second.after.path]).toEqual(["a", "a", "b"]);
    await expect(reloader.reload("c", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    await reloader.close();
    await expect(reloader.reload("d")).rejects.toMatchObject({ code: "ABORTED" });
    expect(await current()).toBe("b");
  });
});
