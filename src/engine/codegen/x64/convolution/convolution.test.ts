import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { featureSets, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runBoth } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import type { Activation } from "../../../ir/operations.ts";
import { type Conv2dRequest, conv2d } from "../../wasm/kernels/convolution/conv2d.ts";
import { type KernelWindow, resolveWindow } from "../../wasm/kernels/convolution/window.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const pad = fc.nat(3);
const windows: fc.Arbitrary<KernelWindow> = fc
  .record({
    input: fc.tuple(size(9), size(75)),
    size: fc.tuple(size(4), fc.oneof({ weight: 5, arbitrary: size(5) }, size(64))),
    strides: fc.tuple(size(3), size(3)),
    dilations: fc.tuple(size(2), size(3)),
    pads: fc.tuple(pad, pad, pad, pad),
  })
  .filter((window) => resolveWindow(window).output.every((places) => places >= 1));
const requests: fc.Arbitrary<Conv2dRequest> = fc
  .record({
    batch: size(2),
    groups: fc.constantFrom(1, 1, 2, 3),
    channels: size(7),
    outputs: fc.oneof(size(9), size(60)),
    window: fc.oneof(
      windows,
      size(200).map((width): KernelWindow => ({ input: [2, width], size: [1, 1] })),
    ),
    bias: fc.boolean(),
    activation: fc.constantFrom<Activation>("none", "relu", "silu", "gelu", "tanh", "sigmoid", "gelu-tanh"),
  })
  .filter(({ channels, outputs, groups }) => channels + outputs > 2 || groups === 1)
  .map(({ channels, outputs, groups, ...rest }) => ({
    ...rest,
    groups,
    inChannels: channels * groups,
    outChannels: outputs * groups,
  }));

describe.each(["AVX2", "AVX-512"] as const)("convolutions in machine code with %s", (level) => {
  it("have the bits of WebAssembly's in any division into calls", ({ skip }) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") return skip(machineCode);
    skip(!featureSets[0]!.relaxedSimd, "WebAssembly has no fused multiply-add");
    fc.assert(
      fc.property(requests, size(7), (request, calls) => {
        const { batch, inChannels, outChannels, groups = 1, window } = request;
        if (inChannels === groups && outChannels === groups) return;
        const { input, size: extent, output } = resolveWindow(window);
        const x = randomFloats(batch * inChannels * input[0] * input[1], 1);
        x[Math.floor(x.length / 3)] = Number.NaN;
        x[Math.floor(x.length / 2)] = Number.NEGATIVE_INFINITY;
        const inputs = {
          x,
          weights: randomFloats((outChannels * inChannels * extent[0] * extent[1]) / groups, 2),
          bias: randomFloats(outChannels, 3),
          y: new Float32Array(batch * outChannels * output[0] * output[1]),
        };
        const { wasm, machine } = runBoth(conv2d(request), inputs, machineCode, { calls });
        const numbers = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer);
        for (const each of machine) expect(numbers(each), JSON.stringify(request)).toEqual(numbers(wasm));
      }),
      { numRuns: amount(3000, 25) },
    );
  });
});
