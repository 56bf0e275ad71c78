import { describe, expect, it } from "vitest";
import { compileKernels, detectWasmFeatures, type KernelFunctions } from "../../codegen/wasm/index.ts";
import { enableRelaxedSimd } from "../../codegen/wasm/v8-flags.ts";
import { multipliedFormats } from "../../../kernels/registry.ts";
import { KernelChecks } from "./kernel-checks.ts";

const features = detectWasmFeatures(enableRelaxedSimd);

/** Compiles kernels; products with quantized weights have the sign of one lane of their output flipped. */
const flippingOneLane: typeof compileKernels = (kernels, memory, given) => {
  const compiled = compileKernels(kernels, memory, given);
  const functions: KernelFunctions = new Map(
    kernels.map((kernel) => {
      const call = compiled.functions.get(kernel.key)!;
      if (kernel.family !== "block-matmul") return [kernel.key, call];
      const { parameters, dynamicSizes, scratchBytes } = kernel;
      const output = dynamicSizes.length + parameters.length - (scratchBytes > 0 ? 2 : 1);
      return [
        kernel.key,
        (...args: number[]) => {
          const status = call(...args);
          const lane = 5;
          if (args.at(-2) === 0) new Uint8Array(memory.buffer)[args[output]! + 4 * lane + 3]! ^= 0x80;
          return status;
        },
      ];
    }),
  );
  return { ...compiled, functions };
};

describe.each(Object.entries(multipliedFormats))("the kernels for %s", (type, format) => {
  it("pass their self-tests", () => {
    const checks = new KernelChecks(features);
    checks.testBlockKernels({ type, format });
    const problems = [...checks.selfTests].flatMap(([id, test]) => (test.passed ? [] : [`${id}: ${test.problem}`]));
    expect(problems).toEqual([]);
    expect(checks.selfTests.size).toBe(2);
  });

  it("are excluded if one lane is wrong, and selection says why", () => {
    const checks = new KernelChecks(features, { compile: flippingOneLane });
    checks.testBlockKernels({ type, format });
    const { selfTests, blockKernels } = checks;
    const { selected, candidates } = blockKernels.select({ type, format, rows: 64, columns: 512 }, { selfTests });
    expect(selected?.id).toMatch(/_Scalar$/);
    const refused = candidates.find(({ id }) => id.endsWith("_Wasm"));
    expect(refused).toMatchObject({ verdict: "refused", stage: "self-test" });
    expect(refused?.reason).toMatch(/^its self-test failed: element 5 of float32\[1,21\] is .+, and .+ is right$/);
  });
});
