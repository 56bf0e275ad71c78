/** Which measurements count, and what is said of those that do not. */
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type MeasuredMachine, type Measurement, measuredMachine } from "../../speed-records/index.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { scriptedMachine } from "../../testing/scripted-backend.ts";
import { type MeasurementFacts, measuredSpeed } from "./measured-speed.ts";
import { gatherMeasurementFacts } from "./measurement-facts.ts";

const here: MeasuredMachine = measuredMachine(scriptedMachine());
const variant: Variant = { name: "fp32", aliases: [], format: "onnx", path: "/m/model.onnx", bytes: 90, config: {} };
const digest = "sha256:aa";

const measurement: Measurement = {
  at: "2026-11-20T10:00:00.000Z",
  machine: here,
  model: { digest, variant: "fp32", path: "/m/model.onnx", bytes: 90, modifiedMs: 1 },
  target: "onnx:cpu",
  library: { name: "onnxruntime-node", version: "1.30.0" },
  threads: 2,
  settings: {},
  figures: { rounds: 3, unit: "texts", loadMs: 1, latencyMs: 7.25, latencyRangeMs: [7, 8], perSecond: 1, memoryBytes: 1 },
};

const facts = (over: Partial<MeasurementFacts> = {}): MeasurementFacts => ({
  machine: here,
  threads: 2,
  settings: {},
  measurements: [measurement],
  digests: new Map([["/m/model.onnx", digest]]),
  problems: new Map(),
  ...over,
});

const library = { name: "onnxruntime-node", version: "1.30.0" };
const subject = { target: "onnx:cpu", kind: "tensor", onCpu: true, variant, library } as const;
const changed = (over: Partial<Measurement>): MeasurementFacts => facts({ measurements: [{ ...measurement, ...over }] });
const on = (over: Partial<MeasuredMachine>): MeasurementFacts => changed({ machine: { ...here, ...over } });

describe("a measurement", () => {
  it("of this machine, these weights, this library and these settings counts", () => {
    expect(measuredSpeed(subject, facts())).toEqual({ latencyMs: 7.25, note: "measured 2026-11-20: 7.25 ms for one text" });
  });

  it("of the same file with its weights packed does not count", () => {
    const packed = { ...variant, name: "int8", packing: { to: "int8", from: variant.name, bytes: 1 } } as const;
    const { latencyMs, note } = measuredSpeed({ ...subject, variant: packed }, facts());
    expect(latencyMs).toBeUndefined();
    expect(note).toBe(`not measured with int8, only with ${variant.name}`);
  });

  it("of generations counts for a language model alone, and runs on tensors for no language model", () => {
    const generations = { ...measurement, figures: { ...measurement.figures, unit: "generations", latencyMs: 40 } } as const;
    const both = facts({ measurements: [measurement, generations] });
    expect(measuredSpeed({ ...subject, kind: "language" }, both)).toEqual({
      latencyMs: 40,
      note: "measured 2026-11-20: 40.0 ms for one generation",
    });
    expect(measuredSpeed(subject, both).latencyMs).toBe(7.25);
    expect(measuredSpeed({ ...subject, kind: "language" }, facts())).toEqual({ note: "not measured" });
  });

  const ignored: readonly [string, MeasurementFacts, string][] = [
    [
      "of another machine",
      on({ processor: "AMD EPYC" }),
      "it was taken on another machine (AMD EPYC, and this is scripted processor)",
    ],
    [
      "of more cores",
      on({ cores: 8, quota: 3.5 }),
      "it was taken on another machine (8 cores with a quota of 3.5, and this is 2 cores)",
    ],
    ["of more memory", on({ memoryBytes: 16e9 }), "it was taken on another machine (16.0 GB, and this is 8.0 GB)"],
    [
      "of another platform",
      on({ architecture: "ia64" }),
      `it was taken on another machine (${process.platform}/ia64, and this is ${process.platform}/${process.arch})`,
    ],
    [
      "of another Node.js",
      on({ node: "99.1.0" }),
      `it was taken on another machine (Node.js 99, and this is Node.js ${process.versions.node.split(".")[0]})`,
    ],
    [
      "with another version of the engine",
      changed({ library: { name: "onnxruntime-node", version: "1.29.0" } }),
      "it was taken with onnxruntime-node 1.29.0, and this is onnxruntime-node 1.30.0",
    ],
    ["with other threads", changed({ threads: 1 }), "it was taken with 1 thread, and this load has 2"],
    [
      "with other settings",
      changed({ settings: { memoryArena: false } }),
      'it was taken with the settings {"memoryArena":false}, and this load has {}',
    ],
    [
      "of a file that has changed",
      facts({ digests: new Map([["/m/model.onnx", "sha256:bb"]]) }),
      "the file of weights has changed since",
    ],
    [
      "of a file whose size has changed, so that it was not even read",
      facts({ digests: new Map() }),
      "the file of weights has changed since",
    ],
  ];
  it.each(ignored)("%s is ignored, and the note says so", (_name, given, reason) => {
    expect(measuredSpeed(subject, given)).toEqual({ note: `a measurement of 2026-11-20 is ignored: ${reason}` });
  });

  it("of this machine counts beside one of another, and of two that count the newer", () => {
    const foreign = { ...measurement, at: "2026-11-30T00:00:00.000Z", machine: { ...here, processor: "AMD EPYC" } };
    const newer = { ...measurement, at: "2026-11-21T00:00:00.000Z", figures: { ...measurement.figures, latencyMs: 3 } };
    expect(measuredSpeed(subject, facts({ measurements: [measurement, foreign, newer] })).latencyMs).toBe(3);
  });

  it("a little more or less memory is the same machine, as is another patch of Node.js", () => {
    const [major] = process.versions.node.split(".");
    expect(measuredSpeed(subject, on({ memoryBytes: 8.1e9, node: `${major}.0.0` })).latencyMs).toBe(7.25);
  });

  it("a new graphics driver touches the targets that may use it, and not the CPU", () => {
    const gpu = (driver: string): MeasuredMachine => ({ ...here, accelerators: [{ device: "cuda:0", name: "H200", driver }] });
    const given = facts({ machine: gpu("600"), measurements: [{ ...measurement, machine: gpu("580") }] });
    expect(measuredSpeed(subject, given).latencyMs).toBe(7.25);
    expect(measuredSpeed({ ...subject, onCpu: false }, given).note).toContain(
      "(H200 with driver 580, and this is H200 with driver 600)",
    );
  });

  it("of another variant is named where there is none of this one", () => {
    const given = facts({
      measurements: [
        { ...measurement, model: { ...measurement.model, variant: "int8", digest: "sha256:cc", path: "/m/q.onnx" } },
      ],
      digests: new Map([["/m/q.onnx", "sha256:cc"]]),
    });
    expect(measuredSpeed(subject, given)).toEqual({ note: "not measured with fp32, only with int8" });
  });

  it("that cannot be read is a reason", () => {
    const problems = new Map([[digest, "/home/m.json is damaged"]]);
    expect(measuredSpeed(subject, facts({ measurements: [], problems }))).toEqual({
      note: "not measured: /home/m.json is damaged",
    });
  });

  it("of nothing: not measured", () => {
    expect(measuredSpeed(subject, facts({ measurements: [] }))).toEqual({ note: "not measured" });
    expect(measuredSpeed({ ...subject, target: "wasm:cpu" }, facts())).toEqual({ note: "not measured" });
  });
});

describe("gathering", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "inferyard-measured-"));
    for (const name of ["model.onnx", "q.onnx"]) await writeFile(join(folder, name), "weights");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const gather = async (
    model: Partial<Measurement["model"]> | undefined,
    problems: { digest: string; reason: string }[] = [],
  ): Promise<{ read: string[]; facts: MeasurementFacts }> => {
    const read: string[] = [];
    const [path, other] = [join(folder, "model.onnx"), join(folder, "q.onnx")];
    const variants = [
      { ...variant, path },
      { ...variant, name: "int8", path: other, bytes: 23 },
    ];
    const kept = model === undefined ? [] : [{ ...measurement, model: { ...measurement.model, path, ...model } }];
    const facts = await gatherMeasurementFacts({
      manifest: { variants } as unknown as Manifest,
      settings: { threads: 1, memoryArena: false },
      machine: scriptedMachine(),
      computeDigest: async ({ path }) => {
        read.push(basename(path));
        return "bb";
      },
      kept: { measurements: kept, problems },
    });
    return { read, facts };
  };

  it("reads no weights where nothing was measured, and else only those of a measured size", async () => {
    expect((await gather(undefined)).read).toEqual([]);
    expect((await gather({})).read).toEqual(["model.onnx"]);
    expect((await gather({ path: "/elsewhere/model.onnx" })).read).toEqual(["model.onnx"]); // a copy of the same weights
    expect((await gather({ bytes: 7 })).read).toEqual([]);
  });

  it("takes the recorded digest while the file has not been changed, and reads it anew after", async () => {
    const path = join(folder, "model.onnx");
    const { mtimeMs } = await stat(path);
    const unchanged = await gather({ modifiedMs: mtimeMs });
    expect(unchanged.read).toEqual([]);
    expect(unchanged.facts.digests.get(path)).toBe(digest);
    const changed = await gather({ modifiedMs: mtimeMs - 1 });
    expect(changed.facts.digests.get(path)).toBe("sha256:bb");
  });

  it("reads all weights where a record is damaged, to know whose it is", async () => {
    expect((await gather(undefined, [{ digest, reason: "damaged" }])).read).toEqual(["model.onnx", "q.onnx"]);
  });

  it("says what a load would have: threads as they come to, and every other setting", async () => {
    expect((await gather(undefined)).facts).toMatchObject({ threads: 1, settings: { memoryArena: false } });
  });
});
