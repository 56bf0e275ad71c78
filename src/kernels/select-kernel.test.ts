import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scriptedMachine } from "../testing/scripted-backend.ts";
import { closestFormat } from "./closest-format.ts";
import { describeSelection } from "./describe-selection.ts";
import type { KernelEntry, KernelSelfTest } from "./kernel-entry.ts";
import { checkKernelPreference, usableKernelIds } from "./kernel-preference.ts";
import { blockKernelId } from "./kernel-ids.ts";
import { formatVariants, kernelById, kernelRegistry, multipliedFormats } from "./registry.ts";
import { type KernelSelectionFacts, machineRefusal, selectKernel } from "./select-kernel.ts";
import type { KernelRequest } from "./kernel-entry.ts";
import { kernelLevels, kernelMachine, type KernelMachine, levelRank, levelRefusal } from "./simd-levels.ts";

const machine: KernelMachine = {
  architecture: "x64",
  features: ["SSE4.2", "AVX2", "FMA"],
  wasm: { simd: true, relaxedSimd: true },
  cuda: "no NVIDIA GPU was found",
  machineCode: "files cannot be loaded as code",
};
const passed: KernelSelfTest = { passed: true, milliseconds: 1 };
const failed: KernelSelfTest = { passed: false, problem: "element 5 is -1, and 1 is right", milliseconds: 1 };

const select = (request: Partial<KernelRequest>, facts: Partial<KernelSelectionFacts> = {}): ReturnType<typeof selectKernel> =>
  selectKernel({ format: "I2_S", rows: 64, columns: 256, ...request }, { machine, selfTests: new Map(), ...facts });

const reasons = ({ candidates }: ReturnType<typeof selectKernel>): Readonly<Record<string, string>> =>
  Object.fromEntries(candidates.map(({ id, reason }) => [id, reason]));

describe("selection of a kernel", () => {
  it("takes generated code, and says of every other kernel why not", () => {
    const selection = select({});
    expect(selection.selected?.id).toBe("I2S_QK256_Wasm");
    expect(selection.candidates.map(({ id, verdict }) => [id, verdict])).toEqual([
      ["I2S_QK256_AVX512", "refused"],
      ["I2S_QK256_AVX2", "refused"],
      ["I2S_QK256_Wasm", "selected"],
      ["I2S_QK256_Scalar", "eligible"],
      ["I2S_QK256_CUDA", "refused"],
      ["I2S_QK256_NEON", "refused"],
    ]);
    expect(reasons(selection)).toMatchObject({
      I2S_QK256_AVX512: "the processor has no AVX-512 F, no AVX-512 BW, no AVX-512 VL, no AVX-512 VNNI",
      I2S_QK256_AVX2: "files cannot be loaded as code",
      I2S_QK256_NEON: "not built yet: no kernels of arm64",
    });
  });

  it("takes what is preferred, the first that can be used", () => {
    const selection = select(
      {},
      { preference: ["I2S_QK256_NEON", "I2S_QK256_Scalar"], selfTests: new Map([["I2S_QK256_Scalar", passed]]) },
    );
    expect(selection.selected?.id).toBe("I2S_QK256_Scalar");
    expect(describeSelection(selection)).toBe(
      "kernel for I2_S: I2S_QK256_Scalar (it is preferred; its self-test passed); not I2S_QK256_NEON: not built yet: no kernels of arm64",
    );
  });

  it("excludes a kernel whose self-test failed", () => {
    const selection = select({}, { selfTests: new Map([["I2S_QK256_Wasm", failed]]) });
    expect(selection.selected?.id).toBe("I2S_QK256_Scalar");
    expect(selection.candidates.find(({ id }) => id === "I2S_QK256_Wasm")).toEqual({
      id: "I2S_QK256_Wasm",
      verdict: "refused",
      stage: "self-test",
      reason: "its self-test failed: element 5 is -1, and 1 is right",
    });
  });

  it("refuses rows that are no whole blocks", () => {
    const selection = select({ columns: 96 });
    expect(selection.selected).toBeUndefined();
    expect(reasons(selection)["I2S_QK256_Wasm"]).toBe("rows of 96 elements are not a multiple of 128");
    expect(describeSelection(selection)).toMatch(
      /^kernel for I2_S: no kernel, the interpreter computes its products; not I2S_QK256_AVX512: /,
    );
    expect(selection.closest).toBeUndefined();
  });

  it("refuses preferred kernels of other formats and of llama.cpp", () => {
    const selection = select({}, { preference: ["Q4_K_Wasm", "Llama_CPU"] });
    expect(reasons(selection)).toMatchObject({
      Q4_K_Wasm: "it multiplies Q4_K, not I2_S",
      Llama_CPU: "it is called by the backend llamacpp: choose that target",
    });
    expect(selection.selected?.id).toBe("I2S_QK256_Wasm");
  });

  it("names ggml's kernels, which are not built", () => {
    const selection = select({ format: "IQ2_S" }, { preference: ["IQ2S_GGML_CPU"] });
    expect(reasons(selection)["IQ2S_GGML_CPU"]).toMatch(/^not built: ggml's own products run on the targets llamacpp/);
    expect(selection.selected?.id).toBe("IQ2_S_Wasm");
  });

  it("takes machine code of the highest level that the model may use where it can be called, for rows that fill panels", () => {
    const native = { ...machine, machineCode: true } as const;
    const id = "Q4_K_AVX2";
    const request = { format: "Q4_K" };
    expect(select(request).selected?.id).toBe("Q4_K_Wasm");
    expect(select(request, { machine: native }).selected?.id).toBe(id);
    const features = ["AVX2", "FMA", "AVX-512 F", "AVX-512 BW", "AVX-512 VL", "AVX-512 VNNI"];
    expect(select(request, { machine: { ...native, features } }).selected?.id).toBe("Q4_K_AVX512");
    const limited = select(request, { machine: { ...native, features, maxMachineLevel: "AVX-512" } });
    expect([limited.selected?.id, reasons(limited)["Q4_K_AVX512"]]).toEqual([
      id,
      "the setting machineCode allows AVX-512 at most",
    ]);
    const odd = select({ ...request, rows: 60 }, { machine: native });
    expect(odd.selected?.id).toBe("Q4_K_Wasm");
    expect(reasons(odd)[id]).toBe("60 rows are not a multiple of 8");
  });

  it("takes a pattern for the kernels of the format that match it, in the engine's own order, and says so of them alone", () => {
    const native = { ...machine, machineCode: true } as const;
    for (const [format, id] of [
      ["Q4_K", "Q4_K_AVX2"],
      ["I2_S", "I2S_QK256_AVX2"],
    ] as const) {
      const selection = select({ format }, { machine: native, preference: ["*_AVX2"] });
      expect(selection.selected?.id).toBe(id);
      expect(selection.candidates.every((each) => each.id === id || !each.id.endsWith("_AVX2"))).toBe(true);
      expect(select({ format, rows: 60 }, { machine: native, preference: ["*_AVX2"] }).selected?.id).toMatch(/_Wasm$/);
    }
    expect(select({ format: "Q4_K" }, { machine: native, preference: ["q4_k_*"] }).selected?.id).toBe("Q4_K_AVX2");
    expect(select({ format: "Q6_K" }, { machine: native, preference: ["Q4_K_*"] }).selected?.id).toBe("Q6_K_AVX2");
    const most = { machine: native, preference: ["*_AVX512", "*_Scalar"] };
    expect(describeSelection(select({ format: "Q4_K" }, most))).toMatch(
      /^kernel for Q4_K: Q4_K_Scalar \(it is preferred; its self-test has not run\); not Q4_K_AVX512: the processor has no AVX-512 F/,
    );
  });

  it("refuses generated code where WebAssembly has no SIMD", () => {
    const plain = { ...machine, wasm: { simd: false, relaxedSimd: false } };
    const selection = select({ format: "Q4_K" }, { machine: plain });
    expect(selection.selected?.id).toBe("Q4_K_Scalar");
    expect(reasons(selection)["Q4_K_Wasm"]).toBe("WebAssembly has no SIMD in this process");
  });

  it("prefers the higher level of the kernels of one kind", () => {
    const [wasm] = kernelRegistry.filter(({ id }) => id === "Q4_K_Wasm") as [KernelEntry];
    const relaxed: KernelEntry = { ...wasm, id: "Q4_K_Relaxed", level: "wasm-relaxed-simd" };
    expect(select({ format: "Q4_K" }, { kernels: [wasm, relaxed] }).selected?.id).toBe("Q4_K_Relaxed");
  });

  it("names the closest format where no kernel multiplies one", () => {
    const { selected, candidates, closest } = select({ format: "NVFP4" });
    expect([selected, candidates]).toEqual([undefined, []]);
    expect(closest).toMatchObject({ format: "Q4_K", unsupported: "no kernel and no decoder of NVFP4 is built" });
  });

  it("is a pure function that never selects a kernel with a refusal", () => {
    const ids = kernelRegistry.map(({ id }) => id);
    const facts = fc.record({
      format: fc.constantFrom(...Object.keys(multipliedFormats), "NVFP4", "nothing"),
      columns: fc.constantFrom(32, 64, 96, 128, 256, 512),
      preference: fc.subarray(ids, { maxLength: 4 }),
      failing: fc.subarray(ids),
      simd: fc.boolean(),
      native: fc.constantFrom(true as const, "no code"),
    });
    fc.assert(
      fc.property(facts, ({ format, columns, preference, failing, simd, native }) => {
        const own = { ...machine, wasm: { simd, relaxedSimd: simd }, machineCode: native };
        const given = { machine: own, preference, selfTests: new Map(failing.map((id) => [id, failed])) };
        const one = select({ format, columns }, given);
        expect(select({ format, columns }, given)).toEqual(one);
        const chosen = one.candidates.filter(({ verdict }) => verdict === "selected").map(({ id }) => id);
        expect(chosen).toEqual(one.selected === undefined ? [] : [one.selected.id]);
        if (one.selected === undefined) return;
        expect(failing).not.toContain(one.selected.id);
        expect(machineRefusal(one.selected, own)).toBeUndefined();
        expect(columns % one.selected.columnMultiple).toBe(0);
      }),
    );
  });
});

describe("the registry", () => {
  it("names kernels of packed blocks, and those of TL1 and TL2 as bitnet.cpp does", () => {
    expect(blockKernelId("int4 of 32 with minimum")).toBe("INT4_B32_MIN_Wasm");
    expect(kernelById("TL1_X86_AVX2")?.formats).toEqual(["TL1"]);
    expect(kernelById("TL2_X86_AVX512")?.level).toBe("AVX-512 VNNI");
  });

  it("knows the blocks that TL1 and TL2 are packed to", () => {
    const { TL1, Q4_K } = multipliedFormats;
    expect(formatVariants("TL1", TL1!).map(({ elements }) => elements)).toEqual([32, 64, 128]);
    expect(formatVariants("Q4_K", Q4_K!)).toEqual([Q4_K]);
  });
});

describe("levels", () => {
  it("are in order", () => {
    expect([...kernelLevels].sort((a, b) => levelRank(a) - levelRank(b))).toEqual(kernelLevels);
    expect(levelRank("AVX-512 VNNI")).toBeGreaterThan(levelRank("AVX2"));
  });

  it("are refused with what the machine lacks", () => {
    const arm: KernelMachine = { ...machine, architecture: "arm64", features: ["NEON"], cuda: true };
    expect(levelRefusal("AVX2", machine)).toBeUndefined();
    expect(levelRefusal("AVX-512", machine)).toBe("the processor has no AVX-512 F, no AVX-512 BW, no AVX-512 VL");
    expect(levelRefusal("AVX2", arm)).toBe("this is an arm64 machine, not an x86-64 one");
    expect(levelRefusal("NEON", arm)).toBeUndefined();
    expect(levelRefusal("NEON dotprod", arm)).toBe("the processor has no DOTPROD");
    expect(levelRefusal("CUDA", arm)).toBeUndefined();
    expect(levelRefusal("CUDA", machine)).toBe("no NVIDIA GPU was found");
    expect(levelRefusal("wasm-relaxed-simd", { ...machine, wasm: { simd: true, relaxedSimd: false } })).toMatch(
      /no relaxed SIMD/,
    );
    expect(levelRefusal("scalar", arm)).toBeUndefined();
  });

  it("are read from the facts of a machine", () => {
    const wasm = { simd: true, relaxedSimd: false };
    const machineCode = "files cannot be loaded as code";
    expect(kernelMachine(scriptedMachine({ architecture: "x64" }), wasm, machineCode)).toMatchObject({
      architecture: "x64",
      wasm,
      machineCode,
    });
    expect(kernelMachine(scriptedMachine({ absent: {} }), wasm, machineCode).cuda).toBe("no NVIDIA GPU was found");
    const gpu = { device: { type: "cuda", index: 0 }, name: "H100", source: "scripted" };
    expect(kernelMachine(scriptedMachine({ accelerators: [gpu] }), wasm, machineCode).cuda).toBe(true);
  });
});

describe("a preference", () => {
  it.each([
    ["Nothing", "INPUT_INVALID", "there is no kernel with this id"],
    ["TL1_ARM_NEON", "NOT_BUILT", "not built yet: no kernels of arm64"],
    ["Q4_K_AVX2", "BACKEND_UNAVAILABLE", "files cannot be loaded as code"],
    ["Llama_CUDA", "BACKEND_UNAVAILABLE", "it is called by the backend llamacpp: choose that target"],
    ["Q4_K_Scalar", "BACKEND_UNAVAILABLE", "its self-test failed: element 5 is -1, and 1 is right"],
    ["Q4_K_GGML_CPU", "NOT_BUILT", "not built: ggml's own products run on the targets llamacpp and library"],
  ] as const)("for %s is %s", (id, code, reason) => {
    const facts = { machine, selfTests: new Map([["Q4_K_Scalar", failed]]) };
    const call = (): void => checkKernelPreference([id], facts, "BACKEND_UNAVAILABLE");
    expect(call).toThrow(expect.objectContaining({ code, message: `the kernel ${id} cannot be used: ${reason}` }));
    expect(usableKernelIds(facts)).toContain("Q4_K_Wasm");
    expect(usableKernelIds(facts)).not.toContain(id);
  });

  it.each([
    ["*_AVX3", "INPUT_INVALID", "there is no kernel with this id"],
    ["*_NEON", "NOT_BUILT", "not built yet: no kernels of arm64"],
    ["Q4_K_AVX*", "BACKEND_UNAVAILABLE", "files cannot be loaded as code"],
    ["Q4_K_Sc*r", "BACKEND_UNAVAILABLE", "its self-test failed: element 5 is -1, and 1 is right"],
  ] as const)("for the pattern %s, of which no kernel can be used, is %s", (pattern, code, reason) => {
    const facts = { machine: { ...machine, features: ["AVX2", "FMA", "AVX-512 F", "AVX-512 BW", "AVX-512 VL", "AVX-512 VNNI"] } };
    const call = (): void =>
      checkKernelPreference([pattern], { ...facts, selfTests: new Map([["Q4_K_Scalar", failed]]) }, "BACKEND_UNAVAILABLE");
    expect(call).toThrow(expect.objectContaining({ code, message: `the kernel ${pattern} cannot be used: ${reason}` }));
  });

  it("is a list of fallbacks, which is refused where none can be used", () => {
    const facts = { machine, selfTests: new Map([["I2S_QK256_Scalar", failed]]) };
    const check =
      (...ids: readonly string[]) =>
      (): void =>
        checkKernelPreference(ids, facts, "BACKEND_UNAVAILABLE");
    expect(check("I2S_QK256_CUDA", "I2S_QK256_AVX2", "I2S_QK256_Wasm")).not.toThrow();
    expect(check("I2S_QK256_CUDA", "Q4_K_Wasm")).not.toThrow();
    expect(check("I2S_QK256_CUDA", "I2S_QK256_AVX2", "I2S_QK256_Scalar")).toThrow(
      expect.objectContaining({
        code: "BACKEND_UNAVAILABLE",
        message:
          "none of the preferred kernels can be used: I2S_QK256_CUDA: not built yet: no CUDA kernels; I2S_QK256_AVX2: files cannot be loaded as code; " +
          "I2S_QK256_Scalar: its self-test failed: element 5 is -1, and 1 is right",
        remedy: "prefer one of I2S_QK256_Wasm",
      }),
    );
    expect(check("I2S_QK256_CUDA", "TL1_ARM_NEON")).toThrow(expect.objectContaining({ code: "NOT_BUILT" }));
    expect(check("Q4_K_Wasm", "Nothing")).toThrow("the kernel Nothing cannot be used: there is no kernel with this id");
  });

  it("for a pattern is accepted if one of its kernels can be used", () => {
    expect(() => checkKernelPreference(["Q4_K_*", "*_Wasm"], { machine })).not.toThrow();
    expect(() => checkKernelPreference(["*_AVX2"], {})).not.toThrow();
  });

  it("for kernels that can be used is accepted, also before the machine is known", () => {
    expect(() => checkKernelPreference(["Q4_K_Wasm", "Q4_K_GGML_CPU"], {})).not.toThrow();
    expect(kernelById("Q4_K_Wasm")?.formats).toEqual(["Q4_K"]);
    expect(kernelById("Nothing")).toBeUndefined();
  });
});

describe("the closest format", () => {
  const closest = (format: string, columns: number = 4096): ReturnType<typeof closestFormat> =>
    closestFormat({ format, rows: 4096, columns });

  it("is of the same family", () => {
    expect(closest("Q4_0_4_8")).toMatchObject({
      format: "Q4_0",
      reason: "it is of the same family",
      unsupported: "llama.cpp has given Q4_0_4_8 up",
    });
  });

  it("of ternary weights is ternary, and keeps them", () => {
    expect(closest("TL2")).toMatchObject({ format: "TQ2_0", error: 0 });
    expect(closest("TL2", 128)).toMatchObject({ format: "I2_S", error: 0 });
  });

  it("of plain numbers is the quantized one that loses the least", () => {
    for (const format of ["F32", "F16", "BF16"]) {
      expect(closest(format)).toMatchObject({
        format: "Q8_0",
        reason: "it loses the least of the quantized formats",
        unsupported: `${format} is multiplied as float32, by kernels that are not in the registry`,
      });
      expect(closest(format, 33).reason).toBe("no quantized format has blocks that fit the rows");
    }
  });

  it("has the fewest bits that are no less, and fits the rows", () => {
    const [wide, narrow] = [closest("NVFP4"), closest("NVFP4", 96)];
    expect([wide.format, narrow.format]).toEqual(["Q4_K", "Q4_0"]);
    expect(wide.bytes).toBe((4096 * 4096 * 144) / 256);
    expect(wide.askedBytes).toBe((4096 * 4096 * 36) / 64);
    expect(wide.error).toBeGreaterThan(0.05);
    expect(wide.error).toBeLessThan(narrow.error);
  });

  it("of a format whose bits are not known loses the least", () => {
    expect(closest("nothing")).toMatchObject({ format: "Q8_0", unsupported: "nothing is no format that this package knows" });
    expect(closest("nothing", 7).format).toBe("F16");
    expect(closest("nothing").askedBytes).toBeUndefined();
    expect(closest("nothing").reason).toMatch(/the bits of nothing are not known/);
  });
});
