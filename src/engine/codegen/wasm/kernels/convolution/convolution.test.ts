import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, largestError, randomFloats } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { assembleKernels } from "../../compile.ts";
import type { Kernel } from "../../kernel.ts";
import { type Conv2dRequest, conv2d } from "./conv2d.ts";
import { type Pool2dRequest, pool2d } from "./pool2d.ts";
import { type KernelWindow, resolveWindow } from "./window.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const pad = fc.nat(2);
const windows: fc.Arbitrary<KernelWindow> = fc
  .record({
    input: fc.tuple(size(12), size(21)),
    size: fc.tuple(size(4), size(4)),
    strides: fc.tuple(size(3), size(3)),
    dilations: fc.tuple(size(2), size(2)),
    pads: fc.tuple(pad, pad, pad, pad),
  })
  .filter((window) => resolveWindow(window).output.every((places) => places >= 1));

/** The places of the input that a window sees at a place of the output: undefined where outside. */
function seen(window: KernelWindow, row: number, column: number): (readonly [y: number, x: number] | undefined)[] {
  const { input, size: extent, strides, dilations, pads } = resolveWindow(window);
  return Array.from({ length: extent[0] * extent[1] }, (_, tap) => {
    const y = row * strides[0] - pads[0] + Math.floor(tap / extent[1]) * dilations[0];
    const x = column * strides[1] - pads[1] + (tap % extent[1]) * dilations[1];
    return y >= 0 && y < input[0] && x >= 0 && x < input[1] ? ([y, x] as const) : undefined;
  });
}

/** The kernel's output in one call, after demanding the same bits of several. */
function output(
  kernel: Kernel,
  arrays: Readonly<Record<string, Float32Array>>,
  length: number,
  splits: number,
  set = featureSets[0]!,
) {
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(1024 * 1024);
    const offsets = new Map(Object.entries(arrays).map(([name, values]) => [name, memory.put(values).offset]));
    const y = memory.room(Float32Array, length);
    offsets.set("y", y.offset).set("scratch", memory.room(Uint8Array, kernel.scratchBytes).offset);
    memory.run(
      kernel,
      kernel.parameters.map((name) => offsets.get(name)!),
      calls,
      set,
    );
    return y.data.slice();
  });
  expect(results[1]).toEqual(results[0]);
  return results[0]!;
}

function expectConvolution(request: Conv2dRequest, splits: number, set = featureSets[0]!): void {
  const { batch, inChannels, outChannels, groups = 1, window } = request;
  const { input, size: extent, output: places } = resolveWindow(window);
  const [channels, outputs, taps] = [inChannels / groups, outChannels / groups, extent[0] * extent[1]];
  const count = batch * outChannels * places[0] * places[1];
  const arrays = {
    x: randomFloats(batch * inChannels * input[0] * input[1], 1),
    weights: randomFloats(outChannels * channels * taps, 2),
    bias: randomFloats(outChannels, 3),
  };
  const wanted = Array.from({ length: count }, (_, place) => {
    const column = place % places[1];
    const row = Math.floor(place / places[1]) % places[0];
    const out = Math.floor(place / (places[1] * places[0])) % outChannels;
    const image = Math.floor(place / (places[1] * places[0] * outChannels));
    let sum = request.bias === true ? arrays.bias[out]! : 0;
    for (let channel = 0; channel < channels; channel += 1) {
      const plane = image * inChannels + Math.floor(out / outputs) * channels + channel;
      seen(window, row, column).forEach((at, tap) => {
        if (at === undefined) return;
        sum +=
          arrays.x[(plane * input[0] + at[0]) * input[1] + at[1]]! * arrays.weights[(out * channels + channel) * taps + tap]!;
      });
    }
    if (request.activation === "relu") sum = Math.max(sum, 0);
    if (request.activation === "sigmoid") sum = 1 / (1 + Math.exp(-sum));
    return sum;
  });
  expect(largestError(output(conv2d(request), arrays, count, splits, set), wanted)).toBeLessThan(1e-5);
}

describe("conv2d", () => {
  const tails = fc.record({
    bias: fc.boolean(),
    activation: fc.constantFrom("none", "relu", "sigmoid"),
  });

  it("equals the definition for any window, groups and tails", () => {
    fc.assert(
      fc.property(
        windows,
        fc.tuple(size(2), size(3), size(4), size(7)),
        tails,
        size(4),
        fc.constantFrom(...featureSets),
        (window, [batch, groups, channels, outputs], tail, splits, set) => {
          expectConvolution(
            { batch, inChannels: groups * channels, outChannels: groups * outputs, groups, window, ...tail },
            splits,
            set,
          );
        },
      ),
      { numRuns: amount(150, 38) },
    );
  });

  it("goes through each channel by itself where each is a group", () => {
    fc.assert(
      fc.property(windows, size(4), tails, size(3), fc.constantFrom(...featureSets), (window, channels, tail, splits, set) => {
        expectConvolution(
          { batch: 2, inChannels: channels, outChannels: channels, groups: channels, window, ...tail },
          splits,
          set,
        );
      }),
      { numRuns: amount(100, 25) },
    );
  });

  it("keeps its code small for large windows", () => {
    const window: KernelWindow = { input: [13, 15], size: [9, 11], dilations: [1, 1], strides: [2, 1], pads: [3, 2, 1, 5] };
    expectConvolution({ batch: 1, inChannels: 2, outChannels: 5, window, bias: true }, 2);
    expectConvolution({ batch: 1, inChannels: 3, outChannels: 3, groups: 3, window, bias: true, activation: "relu" }, 2);
    const huge: KernelWindow = { input: [300, 300], size: [300, 300] };
    for (const groups of [1, 2]) {
      const kernel = conv2d({ batch: 1, inChannels: 2, outChannels: 2, groups, window: huge });
      expect(assembleKernels([kernel], { features: featureSets[0]!, shared: false }).length).toBeLessThan(5000);
    }
  });

  it("takes 1 x 1 as a product over the whole plane", () => {
    const request: Conv2dRequest = {
      batch: 2,
      inChannels: 5,
      outChannels: 9,
      window: { input: [5, 7], size: [1, 1] },
      bias: true,
    };
    expect(conv2d(request).pieces).toBe(2 * Math.ceil(35 / 8));
    expectConvolution(request, 3);
  });
});

describe("pool2d", () => {
  it("pools a whole plane", () => {
    const window: KernelWindow = { input: [30, 31], size: [30, 31] };
    const x = randomFloats(2 * 930, 1);
    const planes = [x.subarray(0, 930), x.subarray(930)];
    const largest = output(pool2d({ planes: 2, kind: "max", window }), { x }, 2, 2);
    expect([...largest]).toEqual(planes.map((plane) => Math.max(...plane)));
    const average = output(pool2d({ planes: 2, kind: "average", window }), { x }, 2, 2);
    const means = planes.map((plane) => plane.reduce((sum, value) => sum + value, 0) / 930);
    expect(largestError(average, means)).toBeLessThan(1e-6);
  });

  it("equals the definition, whatever part of the pads counts", () => {
    fc.assert(
      fc.property(
        windows,
        fc.constantFrom("max", "average"),
        fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
        size(3),
        size(3),
        (window, kind, counting, planes, splits) => {
          const { input, output: places, pads } = resolveWindow(window);
          const countedPads = pads.map((one, side) => (counting[side] === true ? one : 0)) as [number, number, number, number];
          const x = randomFloats(planes * input[0] * input[1], 1);
          const request: Pool2dRequest = { planes, kind, window, countedPads };
          const [top, left, bottom, right] = countedPads;
          const wider: KernelWindow = {
            ...window,
            input: [input[0] + top + bottom, input[1] + left + right],
            pads: [pads[0] - top, pads[1] - left, pads[2] - bottom, pads[3] - right],
          };
          const wanted = Array.from({ length: planes * places[0] * places[1] }, (_, place) => {
            const [row, column] = [Math.floor(place / places[1]) % places[0], place % places[1]];
            const plane = Math.floor(place / (places[0] * places[1]));
            const values = seen(window, row, column).flatMap((at) =>
              at === undefined ? [] : [x[(plane * input[0] + at[0]) * input[1] + at[1]]!],
            );
            if (kind === "max") return Math.max(...values);
            const counted = seen(wider, row, column).filter((at) => at !== undefined).length;
            return values.reduce((sum, value) => sum + value, 0) / counted;
          });
          expect(largestError(output(pool2d(request), { x }, wanted.length, splits), wanted)).toBeLessThan(1e-6);
        },
      ),
      { numRuns: amount(150, 38) },
    );
  });
});
