/** Levels of machine code: which a processor has, how a setting limits them, and the ids of kernels that name them. */
import { describe, expect, it } from "vitest";
import { findMachineFamily, listedFamilies } from "./machine-families.ts";
import { getMachineLevel, machineFamilyId, machineKernelId, namesKernel, withoutMachineCode } from "./kernel-ids.ts";
import { highestX64Level, kernelMachine, levelRefusal, limitLevel, machineCodeLevels, x64Levels } from "./simd-levels.ts";
import { scriptedMachine } from "../testing/scripted-backend.ts";

const avx512 = ["AVX-512 F", "AVX-512 BW", "AVX-512 VL"];

describe("the highest level of a processor", () => {
  it.each([
    [[], undefined],
    [["AVX2"], undefined],
    [["AVX2", "FMA"], "AVX2"],
    [["AVX2", "FMA", "AVX-512 F"], "AVX2"],
    [["AVX2", "FMA", ...avx512], "AVX-512"],
    [["AVX2", "FMA", ...avx512, "AVX-512 VNNI"], "AVX-512 VNNI"],
  ])("with %j is %s", (features, level) => {
    expect(highestX64Level(features)).toBe(level);
  });

  it("is limited by a setting, which never raises it", () => {
    expect(limitLevel("AVX-512", undefined)).toBe("AVX-512");
    expect(limitLevel("AVX-512", "avx2")).toBe("AVX2");
    expect(limitLevel("AVX2", "avx512vnni")).toBe("AVX2");
    expect(Object.values(machineCodeLevels)).toEqual(x64Levels);
  });
});

describe("ids of kernels", () => {
  it("name the level, and give it back", () => {
    for (const level of x64Levels) {
      const id = machineFamilyId("matmul", level);
      expect(id).toBe(`F32_${level.replace(/[- ]/g, "")}`);
      expect(getMachineLevel(id)).toBe(level);
      expect(withoutMachineCode(id)).toBe("F32_Wasm");
    }
    expect(getMachineLevel("F32_Wasm")).toBeUndefined();
    expect(withoutMachineCode("F32_Wasm")).toBe("F32_Wasm");
    expect(withoutMachineCode(machineKernelId("TL1", "AVX2"))).toBe("TL1_Wasm");
    expect(machineFamilyId("top-k", "AVX2")).toBe("TopK_AVX2");
  });

  it("are named by patterns", () => {
    expect(["f32_*", "*_avx512", "f*2*512", "F32_AVX512"].map((name) => namesKernel(name, "F32_AVX512"))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(["g*", "*_wasm", "f*9*512", "F32"].map((name) => namesKernel(name, "F32_AVX512"))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

it("what a machine lacks for a level is named", () => {
  const facts = kernelMachine(scriptedMachine(), { simd: false, relaxedSimd: false }, "not asked for");
  const machine = { ...facts, architecture: "x64", features: ["SSE4.2", "AVX2", "FMA"] };
  expect(levelRefusal("AVX2", machine)).toBeUndefined();
  expect(levelRefusal("scalar", machine)).toBeUndefined();
  expect(levelRefusal("AVX-512", machine)).toBe("the processor has no AVX-512 F, no AVX-512 BW, no AVX-512 VL");
  expect(levelRefusal("NEON", machine)).toBe("this is an x86-64 machine, not an arm64 one");
  expect(levelRefusal("AVX2", { ...machine, architecture: "arm64" })).toBe("this is an arm64 machine, not an x86-64 one");
  expect(levelRefusal("wasm-simd128", machine)).toContain("no SIMD");
  expect(levelRefusal("wasm-relaxed-simd", machine)).toContain("no relaxed SIMD");
  expect(levelRefusal("CUDA", machine)).toBe(machine.cuda === true ? undefined : machine.cuda);
});

describe("families in machine code", () => {
  it("are found by their ids, and no others are", () => {
    for (const family of listedFamilies)
      for (const level of x64Levels) expect(findMachineFamily(machineFamilyId(family, level))).toEqual({ family, level });
    for (const id of ["F32_Wasm", "Bogus_AVX512", "Q4_K_AVX512", "BlockMatmul_AVX2"])
      expect(findMachineFamily(id)).toBeUndefined();
  });
});
