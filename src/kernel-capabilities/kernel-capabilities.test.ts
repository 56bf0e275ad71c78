import { describe, expect, it } from "vitest";
import { kernelCapabilities } from "./index.ts";

describe("kernelCapabilities", () => {
  it("lists the kernels of formats that are asked for, each tested, and none timed", async () => {
    const { kernels, memoryGigabytesPerSecond, closest } = await kernelCapabilities({ formats: ["I2_S"] });
    expect(kernels.length).toBeGreaterThan(0);
    expect(kernels.every(({ formats }) => formats === "any" || formats.includes("I2_S"))).toBe(true);
    expect(kernels.filter(({ here, selfTest }) => here && selfTest?.passed === false)).toEqual([]);
    expect([kernels.some(({ speed }) => speed !== undefined), memoryGigabytesPerSecond, closest]).toEqual([false, undefined, {}]);
  });
});
