/** Models on several devices of one machine: two scripted GPUs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tinyGraph } from "../../backends/onnxruntime/tiny-graph.ts";
import { nodePlatform } from "../../composition/node/platform.ts";
import type { Backend } from "../../contract/backend.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { scriptedBackend } from "../../testing/scripted-backend.ts";
import { ModelRuntime } from "../model-runtime.ts";
import type { RuntimeSettings } from "../options/runtime-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-placement-"));
afterAll(() => rmSync(folder, { recursive: true }));
const model = join(folder, "model.onnx");
writeFileSync(model, Buffer.from(tinyGraph, "base64"));
const inputs: TensorMap = { x: { dataType: "float32", shape: [2], data: Float32Array.of(1, 2) } };

interface Scene {
  readonly runtime: ModelRuntime;
  /** Devices of the loads, in order. */
  readonly loads: string[];
  /** Devices of the runs, in order, without the run that verifies the model. */
  readonly runs: string[];
}

/** A runtime with one CPU and two GPUs. `broken`: a device whose loads fail. */
function start(settings: RuntimeSettings, broken?: string): Scene {
  const [loads, runs]: [string[], string[]] = [[], []];
  const scripted = scriptedBackend("onnx", {
    availability: {
      present: true,
      library: { name: "onnx", version: "1.0.0" },
      devices: (["cuda:0", "cuda:1", "cpu:0"] as const).map((name) => {
        const [type = "cpu", index] = name.split(":");
        return { device: { type, index: Number(index) }, state: "available", reason: "scripted", milliseconds: 0 };
      }),
    },
  });
  const backend: Backend = {
    ...scripted,
    async load(files, device, options) {
      const name = `${device.type}:${device.index}`;
      loads.push(name);
      if (name === broken) throw new Error("the device is gone");
      const loaded = await scripted.load(files, device, options);
      let isVerified = loads.length > 1; // replicas are not verified
      return {
        ...loaded,
        async run(given, runOptions) {
          if (isVerified) runs.push(name);
          isVerified = true;
          await new Promise((resolve) => setImmediate(resolve));
          return await loaded.run(given, runOptions);
        },
      };
    },
  };
  return { runtime: new ModelRuntime([backend], settings, async () => undefined, nodePlatform()), loads, runs };
}

describe("a model with a replica on each device", () => {
  it("has the GPUs share runs that overlap: pool and data-parallel", async () => {
    for (const placement of ["pool", "data-parallel"] as const) {
      const { runtime, loads, runs } = start({ placement });
      const handle = await runtime.load(model);
      expect(loads).toEqual(["cuda:0", "cuda:1"]);
      await Promise.all([1, 2, 3, 4].map(async () => await handle.run(inputs)));
      expect(runs.toSorted()).toEqual(["cuda:0", "cuda:0", "cuda:1", "cuda:1"]);
      await handle.run(inputs);
      expect(runs.at(-1)).toBe("cuda:0");
      expect(await handle.replicas()).toHaveLength(2);
      await runtime.dispose();
    }
  });

  it("has the GPUs take runs in turn: round-robin", async () => {
    const { runtime, runs } = start({ placement: "round-robin" });
    const handle = await runtime.load(model);
    for (let run = 0; run < 4; run += 1) await handle.run(inputs);
    expect(runs).toEqual(["cuda:0", "cuda:1", "cuda:0", "cuda:1"]);
    await runtime.dispose();
  });

  it("books the memory of each device", async () => {
    const { runtime } = start({ placement: "pool", maxDeviceMemory: { "cuda:0": "1MB", "cuda:1": "1MB" } });
    await runtime.load(model);
    expect(Object.keys(runtime.memory().models[0]?.bytes ?? {})).toEqual(expect.arrayContaining(["cuda:0", "cuda:1"]));
    await runtime.dispose();
  });

  it("serves on the devices that load it", async () => {
    const { runtime, runs } = start({ placement: "round-robin" }, "cuda:1");
    const handle = await runtime.load(model);
    await handle.run(inputs);
    await handle.run(inputs);
    expect(runs).toEqual(["cuda:0", "cuda:0"]);
    await runtime.dispose();
  });

  it("leaves out devices that a constraint excludes, and is on one device unless it is asked for", async () => {
    for (const settings of [{ placement: "pool", exclude: "onnx:cuda:1" }, { placement: "one-device" }, {}] as const) {
      const { runtime, loads } = start(settings);
      const handle = await runtime.load(model);
      await Promise.all([handle.run(inputs), handle.run(inputs)]);
      expect(loads).toEqual(["cuda:0"]);
      await runtime.dispose();
    }
  });

  it("is refused by name where it would be divided, and cannot be", async () => {
    const { runtime } = start({ placement: "tensor-parallel" });
    await expect(runtime.load(model)).rejects.toThrow(/tensor-parallel: onnx does not divide models among processes/);
    await runtime.dispose();
  });
});
