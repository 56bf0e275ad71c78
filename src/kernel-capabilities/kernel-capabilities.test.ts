import { describe, expect, it } from "vitest";
import { createRuntime } from "../api/create-runtime.ts";
import { scriptedMachine } from "../testing/index.ts";
import { isCapableOf, kernelCapabilities } from "./index.ts";

describe("kernelCapabilities", () => {
  it("lists the kernels of formats that are asked for, each tested, and none timed", async () => {
    const { kernels, memoryGigabytesPerSecond, closest } = await kernelCapabilities({ formats: ["I2_S"] });
    expect(kernels.length).toBeGreaterThan(0);
    expect(kernels.every(({ formats }) => formats === "any" || formats.includes("I2_S"))).toBe(true);
    expect(kernels.filter(({ here, selfTest }) => here && selfTest?.passed === false)).toEqual([]);
    expect([kernels.some(({ speed }) => speed !== undefined), memoryGigabytesPerSecond, closest]).toEqual([false, undefined, {}]);
  });

  const processor = (features: readonly string[], architecture = "x64") => {
    const machine = scriptedMachine();
    return { ...machine, architecture, cpu: { ...machine.cpu, features: { value: features, source: "scripted" } } };
  };

  it.each([
    [processor([]), "wasm-relaxed-simd"],
    [processor(["AVX2", "FMA", "SSE4.2"]), "AVX2"],
    [processor(["AVX2", "FMA", "SSE4.2", "AVX-512 F", "AVX-512 BW", "AVX-512 VL"]), "AVX-512"],
    [processor(["NEON"], "arm64"), "NEON"],
  ])("orders the SIMD levels of the machine, and names the best", async (machine, best) => {
    const report = (await kernelCapabilities({ formats: [], machine })).machine;
    expect(report.best).toBe(best);
    expect(report.simd[0]).toEqual({ level: "scalar", here: true });
    for (const { here, reason } of report.simd) expect(here).toBe(reason === undefined);
    expect(report.formats.length).toBeGreaterThan(10);
  });

  it("says for each engine whether CUDA is compiled in and whether it runs, and why not", async () => {
    const { cuda } = (await kernelCapabilities({ formats: [], machine: scriptedMachine({ absent: { cuda: "no driver" } }) }))
      .machine;
    expect(cuda.runs).toBe(false);
    expect(cuda.engines.map(({ target, runs }) => [target, runs])).toEqual([
      ["native:cuda", false],
      ["onnx:cuda", false],
      ["llamacpp:cuda", false],
    ]);
    for (const { target, reason } of cuda.engines)
      expect(reason).toContain(target.startsWith("native") ? "not built" : "no driver");
  });

  it("says how long a context each loaded model of a runtime can take", async () => {
    await using runtime = await createRuntime({ host: "inline" });
    await runtime.use("builtin", {}, async () => {});
    const { models } = await kernelCapabilities({ formats: [], runtime });
    expect(models).toEqual([
      { reference: "builtin", target: "native:cpu", contextLength: runtime.memory().models[0]?.contextLength },
    ]);
  });
});

describe("isCapableOf", () => {
  it("runs the tests of a family in machine code", async () => {
    const { families = [] } = await kernelCapabilities();
    const { here, reason } = families.find(({ family }) => family === "matmul")!;
    const expected = here ? { capable: true, reason: "its self-test passed" } : { capable: false, reason };
    for (const id of ["F32_AVX2", "Conv2d_AVX2"]) expect(await isCapableOf(id), id).toEqual(expected);
  });

  it.each([
    ["F32_AVX512VNNI", false, "the processor has no AVX-512"],
    ["F32_AVX51", false, 'there is no kernel "F32_AVX51"; did you mean F32_AVX512?'],
    ["Q4_K_Wasm", true, "its self-test passed"],
    ["Q4_K_Scalar", true, "its self-test passed"],
    ["I2S_QK256_CUDA", false, "no driver; not built yet"],
    ["TL1_ARM_NEON", false, "not an arm64 one"],
    ["Q4_K_AVX512", false, "the processor has no AVX-512"],
    ["Llama_CUDA", false, "no driver"],
    ["Q4_K_Wsam", false, 'there is no kernel "Q4_K_Wsam"; did you mean Q4_K_Wasm?'],
  ])("%s: %s", async (id, capable, reason) => {
    const machine = scriptedMachine({ architecture: "x64", absent: { cuda: "no driver" } });
    expect(await isCapableOf(id, { machine })).toEqual({ capable, reason: expect.stringContaining(reason) });
  });
});
