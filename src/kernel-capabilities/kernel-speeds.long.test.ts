import { describe, expect, it } from "vitest";
import { NativeKernels } from "../backends/native/kernel-speeds/kernel-facts.ts";
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

it("says what share of the processor's peaks machine code reaches", async ({ skip }) => {
  const facts = await NativeKernels.open();
  const peaks = facts.measurePeaks();
  if (peaks === undefined) return skip(String(facts.machineCode));
  const speed = facts.measureFamily("matmul", peaks)!;
  expect(speed).toMatchObject({ what: "linear layer of 128 x 384 x 1536", bound: "compute" });
  expect(speed.ofRoofline).toBeGreaterThan(0.1);
  expect(speed.ofRoofline).toBeLessThan(1.5);
});
