import { describe, expect, it } from "vitest";
import { scriptedMachine } from "../../testing/scripted-backend.ts";
import { getProvider, sessionOptions } from "./providers.ts";

const optionsFor = (type: string, index = 0, settings: Parameters<typeof sessionOptions>[2] = {}): Record<string, unknown> => {
  const device = { type, index };
  return sessionOptions(getProvider(device)!, device, settings);
};

describe("what a session is asked for", () => {
  it("exactly the provider of the device, and its number where it has one", () => {
    expect(optionsFor("cpu")["executionProviders"]).toEqual(["cpu"]);
    expect(optionsFor("cuda", 1)["executionProviders"]).toEqual([{ name: "cuda", deviceId: 1 }]);
    expect(optionsFor("directml")["executionProviders"]).toEqual([{ name: "dml", deviceId: 0 }]);
  });

  it("no node may move to the CPU without a word when another device was asked for", () => {
    expect(optionsFor("cuda")["extra"]).toEqual({ session: { disable_cpu_ep_fallback: "1" } });
    expect(optionsFor("cpu")).not.toHaveProperty("extra");
  });

  it("the graph is rewritten as far as was asked, and no further than the provider bears", () => {
    expect(optionsFor("cpu")["graphOptimizationLevel"]).toBe("all");
    expect(optionsFor("cpu", 0, { graphOptimization: "extended" })["graphOptimizationLevel"]).toBe("extended");
    expect(optionsFor("coreml")["graphOptimizationLevel"]).toBe("basic");
    expect(optionsFor("coreml", 0, { graphOptimization: "disabled" })["graphOptimizationLevel"]).toBe("disabled");
  });

  it("the settings of memory become the session's own, and are left to the engine where they are not set", () => {
    expect(optionsFor("cpu", 0, { memoryPattern: false, memoryArena: true })).toMatchObject({
      enableMemPattern: false,
      enableCpuMemArena: true,
    });
    expect(optionsFor("cpu")).not.toHaveProperty("enableMemPattern");
    expect(optionsFor("cpu")).not.toHaveProperty("enableCpuMemArena");
  });

  it("a limit on the memory of a run turns the arena off, which would keep the memory of the largest run, unless it is asked for; and threads that spin", () => {
    const maxRunMemory = 1e9;
    const extra = { session: { intra_op: { allow_spinning: "0" } } };
    expect(optionsFor("cpu", 0, { maxRunMemory })).toMatchObject({ enableCpuMemArena: false, extra });
    expect(optionsFor("cpu", 0, { maxRunMemory, memoryArena: true })).toMatchObject({ enableCpuMemArena: true });
    expect(optionsFor("cuda", 0, { maxRunMemory })).not.toHaveProperty("enableCpuMemArena");
  });

  it("threads are given only where they are known", () => {
    expect(optionsFor("cpu", 0, { threads: 2 })).toMatchObject({ intraOpNumThreads: 2, interOpNumThreads: 1 });
    expect(optionsFor("cpu")).not.toHaveProperty("intraOpNumThreads");
  });

  it("a machine without the device says why, in the words of whoever looked for it", () => {
    const machine = scriptedMachine({ absent: { cuda: "no NVIDIA driver on this machine" } });
    expect(getProvider({ type: "cuda", index: 0 })?.absenceReason?.(machine)).toBe("no NVIDIA driver on this machine");
    expect(getProvider({ type: "tensorrt", index: 0 })?.absenceReason?.(machine)).toBe("no NVIDIA driver on this machine");
    expect(getProvider({ type: "webgpu", index: 0 })?.absenceReason?.({ ...machine, platform: "linux" })).toBe(
      "no vulkan device was found on this machine",
    );
    const found = scriptedMachine({ accelerators: [{ device: { type: "cuda", index: 0 }, name: "H200", source: "test" }] });
    expect(getProvider({ type: "cuda", index: 0 })?.absenceReason?.(found)).toBeUndefined();
  });
});
