/** Promise 1 of ARCHITECTURE.md: the device that is asked for is the device that computes, or the load is refused. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Device, LoadSettings } from "../../contract/backend.ts";
import { makeProfileFolder, readEvidence } from "../../backends/onnx/profile.ts";
import { getProvider } from "../../backends/onnx/providers.ts";
import { tinyGraph } from "../../backends/onnxruntime/tiny-graph.ts";
import { InferyardError } from "../../contract/errors.ts";
import { nodePlatform } from "../../composition/node/platform.ts";
import { type ScriptedBackend, scriptedBackend } from "../../testing/scripted-backend.ts";
import { ModelRuntime } from "../model-runtime.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";

let folder = "";
let model = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-placement-"));
  model = join(folder, "model.onnx");
  await writeFile(model, Buffer.from(tinyGraph, "base64"));
});
afterAll(() => rm(folder, { recursive: true }));

const [onCpu, onCuda] = ["CPUExecutionProvider", "CUDAExecutionProvider"];
const profileOf = (...providers: readonly string[]): string =>
  JSON.stringify(providers.map((provider) => ({ cat: "Node", args: { provider } })));

/** A backend `onnx` with CUDA and the CPU, whose evidence is read from this profile as that of onnxruntime is. */
function profiled(profile: string, cpuNodes?: LoadSettings["cpuNodes"]): ScriptedBackend {
  const device = (type: string): Device => ({ type, index: 0 });
  return scriptedBackend("onnx", {
    availability: {
      present: true,
      library: { name: "onnx", version: "1.0.0" },
      devices: ["cuda", "cpu"].map((type) => ({ device: device(type), state: "present", reason: "scripted" })),
    },
    evidence: async (on) => {
      const written = await makeProfileFolder();
      const endProfiling = (): Promise<void> => writeFile(join("path" in written ? written.path : "", "run.json"), profile);
      await endProfiling();
      return readEvidence({ endProfiling: () => {} }, written, getProvider(on)!, cpuNodes);
    },
  });
}

const runtimes: ModelRuntime[] = [];
afterEach(() => Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose())));

function start(...backends: readonly ScriptedBackend[]): ModelRuntime {
  const runtime = new ModelRuntime(backends, {}, async () => undefined, nodePlatform());
  runtimes.push(runtime);
  return runtime;
}

async function refusalOf(runtime: ModelRuntime, options: ModelOptions): Promise<InferyardError> {
  const error = await runtime.load(model, options).catch((thrown: unknown) => thrown);
  if (error instanceof InferyardError) return error;
  throw new Error("the load was not refused");
}

describe("a profile with nodes elsewhere", () => {
  it.each([
    ["onnx:cpu", "CUDA nodes", profileOf(onCuda, onCuda), undefined],
    ["onnx:cpu", "CUDA nodes, and nodes on the CPU are permitted", profileOf(onCpu, onCuda), "allow"],
    ["onnx:cuda", "CPU nodes", profileOf(onCpu, onCpu), undefined],
    ["onnx:cuda", "some CPU nodes", profileOf(onCuda, onCpu), undefined],
    ["onnx:cuda", "CPU nodes only, and they are permitted", profileOf(onCpu), "allow"],
  ] as const)("%s is refused for %s", async (target, _case, profile, cpuNodes) => {
    const backend = profiled(profile, cpuNodes);
    const error = await refusalOf(start(backend), { target });
    expect(error).toMatchObject({ code: "BACKEND_UNAVAILABLE", cause: { code: "VERIFICATION_FAILED" } });
    expect(error.message).toContain("ExecutionProvider was asked for");
    expect(backend.calls.at(-1)).toBe("dispose model");
  });

  it("CUDA with some nodes on the CPU is selected where they are permitted", async () => {
    const { decision } = await start(profiled(profileOf(onCuda, onCpu), "allow")).load(model, { target: "onnx:cuda" });
    expect(decision.selected).toMatchObject({ target: "onnx:cuda" });
    expect(decision.selected).not.toHaveProperty("unproven");
    expect(decision.selected?.evidence.at(-1)).toMatch(/1 node on CUDAExecutionProvider, 1 node on CPUExecutionProvider/);
  });
});

describe("a profile that proves nothing", () => {
  const proofless = [
    ["empty", ""],
    ["cut off", profileOf(onCpu).slice(0, -3)],
    ["of fences only", JSON.stringify([{ cat: "Node", name: "MatMul_fence_before", args: { op_name: "MatMul" } }])],
  ] as const;

  it.each(proofless)("%s: a required target is refused, with the reason and a remedy", async (_case, profile) => {
    for (const target of ["onnx:cpu", "onnx:cuda", "onnx"]) {
      const error = await refusalOf(start(profiled(profile)), { target });
      expect(error.message).toMatch(
        /verify: where it computed is unproven, and a required target must be proved: onnxruntime's profile/,
      );
      expect(JSON.stringify(error)).toContain("set TMPDIR to a folder");
    }
  });

  it.each(proofless)(
    "%s: without a requirement the CPU is used, CUDA is not, and the decision says unproven",
    async (_case, profile) => {
      const { decision } = await start(profiled(profile)).load(model, { prefer: "onnx:cuda" });
      expect(decision.candidates[0]).toMatchObject({ target: "onnx:cuda", verdict: "failed", stage: "verify" });
      expect(decision.candidates[0]?.reason).toContain("a device other than the CPU must be proved");
      expect(decision.selected).toMatchObject({ target: "onnx:cpu", unproven: expect.stringContaining("onnxruntime's profile") });
      expect(decision.selected?.evidence).toEqual(["a probe input ran, and its output is finite"]);
    },
  );

  it("a request that requires the target does not share the model that another one loaded without proof", async () => {
    const runtime = start(profiled(""), scriptedBackend("wasm"));
    const loaded = await runtime.load(model, { exclude: "onnx:cuda" });
    expect(loaded.target).toBe("onnx:cpu");
    expect((await refusalOf(runtime, { target: "onnx:cpu" })).message).toContain("a required target must be proved");
    const { decision } = await runtime.load(model, { target: ["onnx:cpu", "wasm:cpu"] });
    const candidate = decision.candidates.find((each) => each.target === "onnx:cpu");
    expect(candidate).toMatchObject({ verdict: "failed", stage: "verify" });
    expect(decision.selected?.target).toBe("wasm:cpu");
  });

  it("so does a backend that reports nothing", async () => {
    const silent = scriptedBackend("onnx", { evidence: [] });
    const { decision } = await start(silent).load(model);
    expect(decision.selected?.unproven).toBe("the engine reports nothing about where it computed");
    expect((await refusalOf(start(silent), { target: "onnx" })).cause).toMatchObject({ code: "PLACEMENT_UNPROVEN" });
  });
});
