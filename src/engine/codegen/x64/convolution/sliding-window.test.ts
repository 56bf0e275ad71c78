import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { features, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runBoth } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import type { Activation } from "../../../ir/operations.ts";
import type { Kernel } from "../../wasm/kernel.ts";
import { conv2d } from "../../wasm/kernels/convolution/conv2d.ts";
import { pool2d } from "../../wasm/kernels/convolution/pool2d.ts";
import { type KernelWindow, resolveWindow } from "../../wasm/kernels/convolution/window.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const pad = fc.nat(3);
const windows: fc.Arbitrary<KernelWindow> = fc
  .record({
    input: fc.tuple(size(12), fc.oneof(size(40), size(300))),
    size: fc.tuple(size(7), size(7)),
    strides: fc.tuple(size(3), size(2)),
    dilations: fc.tuple(size(2), size(3)),
    pads: fc.tuple(pad, pad, pad, pad),
  })
  .filter((window) => resolveWindow(window).output.every((places) => places >= 1));
const cases = fc.record({
  window: windows,
  planes: size(3),
  channels: size(4),
  kind: fc.constantFrom("weights", "max", "average"),
  bias: fc.boolean(),
  activation: fc.constantFrom<Activation>("none", "relu", "silu", "gelu", "tanh", "sigmoid", "gelu-tanh"),
  calls: size(5),
});

describe.each(["AVX2", "AVX-512"] as const)("windows over planes in machine code with %s", (level) => {
  it("have the numbers of WebAssembly's in any division into calls", ({ skip }) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") return skip(machineCode);
    skip(!features.relaxedSimd, "WebAssembly has no fused multiply-add");
    fc.assert(
      fc.property(cases, ({ window, planes, channels, kind, bias, activation, calls }) => {
        const { input, size: extent, output } = resolveWindow(window);
        const batch = planes;
        const count = kind === "weights" ? batch * channels : planes;
        const kernel: Kernel =
          kind === "weights"
            ? conv2d({ batch, inChannels: channels, outChannels: channels, groups: channels, window, bias, activation })
            : pool2d({ planes, kind: kind === "max" ? kind : "average", window, countedPads: window.pads! });
        const x = randomFloats(count * input[0] * input[1], 1);
        if (calls % 2 === 0) x[Math.floor(x.length / 3)] = Number.NaN;
        x[Math.floor(x.length / 2)] = Number.NEGATIVE_INFINITY;
        const inputs = { x, weights: randomFloats(channels * extent[0] * extent[1], 2), bias: randomFloats(channels, 3) };
        const { wasm, machine } = runBoth(
          kernel,
          { ...inputs, y: new Float32Array(count * output[0] * output[1]) },
          machineCode,
          { calls },
        );
        const numbers = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer);
        for (const each of machine) expect(numbers(each), kernel.key).toEqual(numbers(wasm));
      }),
      { numRuns: amount(3000, 25) },
    );
  });
});
