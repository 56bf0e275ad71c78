import { describe, expect, it } from "vitest";
import { kernelCapabilities } from "./index.ts";

describe("kernelCapabilities", () => {
  it("times those that are here when it is asked to", async () => {
    const { kernels, memoryGigabytesPerSecond } = await kernelCapabilities({ formats: ["Q8_0"], bench: true });
    expect(kernels.filter(({ speed }) => speed !== undefined).map(({ id }) => id)).toEqual(
      kernels.filter(({ here }) => here).map(({ id }) => id),
    );
    expect(memoryGigabytesPerSecond).toBeGreaterThan(0);
  });
});
