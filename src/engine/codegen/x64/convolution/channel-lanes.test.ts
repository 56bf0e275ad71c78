import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { featureSets, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runBoth } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import type { Activation } from "../../../ir/operations.ts";
import { channelPanelsLength, packChannelPanels, unpackChannelPanels } from "../../wasm/kernels/convolution/channel-panels.ts";
import { type Conv2dRequest, conv2d } from "../../wasm/kernels/convolution/conv2d.ts";
import { type KernelWindow, resolveWindow } from "../../wasm/kernels/convolution/window.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const pad = fc.oneof(fc.constant(0), fc.nat(3), fc.nat(20));
const windows: fc.Arbitrary<KernelWindow> = fc
  .record({
    input: fc.tuple(size(9), fc.oneof(size(33), size(200))),
    size: fc.tuple(size(4), fc.oneof({ weight: 5, arbitrary: size(5) }, size(64))),
    strides: fc.tuple(size(3), size(3)),
    dilations: fc.tuple(size(2), size(3)),
    pads: fc.oneof(fc.constant([0, 0, 0, 0] as const), fc.tuple(pad, pad, pad, pad)),
  })
  .filter((window) => resolveWindow(window).output.every((places) => places >= 1));
const requests: fc.Arbitrary<Conv2dRequest> = fc
  .record({
    batch: size(2),
    groups: fc.constantFrom(1, 1, 2, 3),
    channels: size(7),
    outputs: fc.oneof(size(9), size(80)),
    window: fc.oneof(
      windows,
      fc.tuple(size(9), size(60)).map((input): KernelWindow => ({ input, size: [1, 1] })),
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
    hasPanels: true,
  }))
  .filter(({ groups, inChannels, outChannels }) => inChannels !== groups || outChannels !== groups);

const numbers = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer);

function operandsOf({ batch, inChannels, outChannels, groups = 1, window }: Conv2dRequest) {
  const { input, size: extent, output } = resolveWindow(window);
  const x = randomFloats(batch * inChannels * input[0] * input[1], 1);
  x[Math.floor(x.length / 3)] = Number.NaN;
  x[Math.floor(x.length / 2)] = Number.NEGATIVE_INFINITY;
  const shape = { groups, outputs: outChannels / groups, depth: (inChannels / groups) * extent[0] * extent[1] };
  const weights = randomFloats(outChannels * shape.depth, 2);
  const packed = new Float32Array(channelPanelsLength(shape));
  packChannelPanels(packed, weights, shape);
  const y = new Float32Array(batch * outChannels * output[0] * output[1]);
  return { x, weights, packed, bias: randomFloats(outChannels, 3), y };
}

describe("weights in panels of channels", () => {
  it("are unpacked to the same elements", () => {
    fc.assert(
      fc.property(size(3), size(40), size(9), (groups, outputs, depth) => {
        const shape = { groups, outputs, depth };
        const weights = randomFloats(groups * outputs * depth, 1);
        const packed = new Float32Array(channelPanelsLength(shape));
        packChannelPanels(packed, weights, shape);
        expect(unpackChannelPanels(packed, shape)).toEqual(weights);
      }),
      { numRuns: amount(300, 20) },
    );
  });
});

describe.each(["AVX2", "AVX-512"] as const)("convolutions over weights in panels with %s", (level) => {
  it("have the bits of WebAssembly's with unpacked weights, in any division into calls", ({ skip }) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") return skip(machineCode);
    skip(!featureSets[0]!.relaxedSimd, "WebAssembly has no fused multiply-add");
    fc.assert(
      fc.property(requests, size(7), (request, calls) => {
        const { x, weights, packed, bias, y } = operandsOf(request);
        const options = { calls, last: calls % 2 === 0 ? "x" : "bias" };
        const { wasm, machine } = runBoth(conv2d(request), { x, weights: packed, bias, y }, machineCode, options);
        const unpacked = runBoth(conv2d({ ...request, hasPanels: false }), { x, weights, bias, y }, machineCode);
        expect(numbers(wasm), JSON.stringify(request)).toEqual(numbers(unpacked.wasm));
        for (const each of machine) expect(numbers(each), JSON.stringify(request)).toEqual(numbers(wasm));
      }),
      { numRuns: amount(3000, 25) },
    );
  });

  it.each<[what: string, request: Conv2dRequest]>([
    [
      "several strips",
      { batch: 1, inChannels: 40, outChannels: 24, window: { input: [60, 90], size: [3, 3], pads: [1, 1, 1, 1] } },
    ],
    [
      "several rows in a tile",
      { batch: 2, inChannels: 5, outChannels: 70, window: { input: [13, 7], size: [3, 3], pads: [1, 1, 1, 1] } },
    ],
    [
      "the whole window in the pads",
      { batch: 1, inChannels: 3, outChannels: 17, window: { input: [3, 3], size: [2, 2], pads: [40, 40, 3, 3] } },
    ],
  ])("have WebAssembly's bits with %s", (_what, request) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string" || !featureSets[0]!.relaxedSimd) return;
    const all = { ...request, hasPanels: true, bias: true, activation: "relu" } as const;
    const { x, packed, bias, y } = operandsOf(all);
    const { wasm, machine } = runBoth(conv2d(all), { x, weights: packed, bias, y }, machineCode, { calls: 4 });
    for (const each of machine) expect(numbers(each)).toEqual(numbers(wasm));
  });
});
