import { describe, expect, it } from "vitest";
import { compileKernels, detectWasmFeatures, type KernelFunctions } from "../../codegen/wasm/index.ts";
import { enableRelaxedSimd } from "../../codegen/wasm/v8-flags.ts";
import type { BlockFormat, UnpackedBlock } from "../../../formats/gguf/blocks/block-format.ts";
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

/** The format Q4_K, whose decoder changes each block that it has read. */
const changed = (change: (block: UnpackedBlock) => void): BlockFormat => {
  const format = multipliedFormats["Q4_K"]!;
  return {
    ...format,
    unpack: (bytes, start, target) => {
      format.unpack(bytes, start, target);
      change(target);
    },
  };
};

describe("self-tests of kernels whose weights are decoded wrong", () => {
  it.each<[what: string, change: (block: UnpackedBlock) => void]>([
    ["minima five per cent too large", (block) => (block.minScale *= 1.05)],
    ["no minima", (block) => block.groupMins.fill(0)],
    ["one code", (block) => (block.codes[17]! ^= 1)],
    ["the scale of one group", (block) => (block.groupScales[3]! += 1)],
  ])("refuse the model: %s", (_what, change) => {
    const checks = new KernelChecks(features);
    expect(() => checks.testBlockKernels({ type: "Q4_K", format: changed(change) })).toThrow(
      expect.objectContaining({ code: "VERIFICATION_FAILED", message: expect.stringContaining("the decoder of Q4_K") }),
    );
  });
});

describe("self-tests of kernels whose weights are packed wrong", () => {
  const damaging = (damage: (packed: Uint8Array) => void): typeof compileKernels => {
    return (kernels, memory, given) => {
      const compiled = compileKernels(kernels, memory, given);
      const functions: KernelFunctions = new Map(
        kernels.map((kernel) => {
          const call = compiled.functions.get(kernel.key)!;
          if (kernel.family !== "block-matmul") return [kernel.key, call];
          return [
            kernel.key,
            (...args: number[]) => {
              if (args.at(-2) === 0) damage(new Uint8Array(memory.buffer, args[kernel.dynamicSizes.length + 1]));
              return call(...args);
            },
          ];
        }),
      );
      return { ...compiled, functions };
    };
  };

  it("see a byte of the packed weights that is wrong", () => {
    const checks = new KernelChecks(features, { compile: damaging((packed) => (packed[3]! ^= 0x80)) });
    checks.testBlockKernels({ type: "Q4_0", format: multipliedFormats["Q4_0"]! });
    expect(checks.selfTests.get("Q4_0_Wasm")).toMatchObject({ passed: false });
  });
});
