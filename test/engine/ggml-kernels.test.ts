/**
 * ggml's own kernels, called through FFI by the engine.
 *
 * @isolated since it calls native code without protection, in a process where other tests have loaded other copies of ggml
 */
import { existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { createRuntime } from "inferyard";
import { multipliedFormats } from "../../src/kernels/registry.ts";
import { KernelChecks } from "../../src/engine/execute/kernel-checks/kernel-checks.ts";
import { detectWasmFeatures } from "../../src/engine/codegen/wasm/index.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { openGgmlKernels } from "../../src/backends/native/ggml-kernels.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const binaries = new URL(`../../node_modules/@node-llama-cpp/${process.platform}-${process.arch}`, import.meta.url);
const skip = !existsSync(binaries) || !existsSync(new URL("../../node_modules/koffi", import.meta.url));
const title = skip ? "(skipped: node-llama-cpp's binaries or koffi are not installed)" : "";

describe.skipIf(skip)(`ggml's kernels ${title}`, () => {
  it("pass the known-answer tests of our registry", async () => {
    const checks = new KernelChecks(detectWasmFeatures(enableRelaxedSimd));
    checks.blockKernels.addGgml((await openGgmlKernels!()).kernelFor);
    for (const [type, format] of Object.entries(multipliedFormats)) checks.testBlockKernels({ type, format });
    const tested = [...checks.selfTests].filter(([id]) => id.endsWith("_GGML_CPU"));
    expect(tested.length).toBeGreaterThan(20);
    expect(tested.flatMap(([id, test]) => (test.passed ? [] : [`${id}: ${test.problem}`]))).toEqual([]);
  });
});

const [skipModel, modelTitle] = needsData("gguf-tiny-llama");

describe.skipIf(skip || skipModel)(`a model with a preferred kernel of ggml ${modelTitle} ${title}`, () => {
  const path = `${sharedData}gguf-tiny-llama/tiny-llama-256-q4_k.gguf`;
  it.each([
    ["inline", 1],
    ["worker", 2],
    ...(runsAll
      ? ([
          ["process", 2],
          ["worker", 1],
        ] as const)
      : []),
  ] as const)("is run by it on the host %s with %i threads", async (host, threads) => {
    const own = await createRuntime({ target: "native:cpu", host });
    try {
      const handle = await own.load(path, { kind: "language", kernels: ["Q4_K_GGML_CPU"], threads });
      const sequence = await handle.language.createSequence();
      await handle.language.decode([{ sequence, tokens: [1, 2, 3] }]);
      const ids = (await handle.kernelCounts())?.map(({ id }) => id);
      expect(ids).toContain("Q4_K_GGML_CPU");
      expect(ids).not.toContain("Q4_K_Wasm");
      expect(handle.decision.selected?.evidence.join("\n")).toContain(
        "kernel for Q4_K: Q4_K_GGML_CPU (it is preferred; its self-test passed)",
      );
      expect(handle.decision.selected?.library.files?.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["libggml-base.so", expect.stringContaining("libggml-cpu")]),
      );
      await handle.dispose();
    } finally {
      await own.dispose();
    }
  });

  it("is run by the next preferred kernel where ggml cannot be opened, and the evidence says why; without one it is refused", async () => {
    vi.stubEnv("LLAMA_CPP_DIR", "/nothing/here");
    const own = await createRuntime({ target: "native:cpu", host: "inline" });
    try {
      const handle = await own.load(path, { kind: "language", kernels: ["Q4_K_GGML_CPU", "Q4_K_Scalar"] });
      expect(handle.decision.selected?.evidence.join("\n")).toMatch(
        /kernel for Q4_K: Q4_K_Scalar \(it is preferred; .*not Q4_K_GGML_CPU: \/nothing\/here cannot be read/,
      );
      await handle.dispose();
      const refused = own.load(path, { kind: "language", kernels: ["Q4_K_GGML_CPU"] });
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining("/nothing/here cannot be read") as string });
    } finally {
      vi.unstubAllEnvs();
      await own.dispose();
    }
  });
});
