/** Depthwise convolution: each output channel is the convolution of one input channel with its own window. Computes four neighbouring positions at a time. */
import type { Activation } from "../../../../ir/operations.ts";
import { i32 } from "../../assembler/scalar.ts";
import { i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { activate } from "../../math/activation.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, storeLanes } from "../loops/lanes.ts";
import { machineScratchBytes } from "../../../x64/index.ts";
import { copyPlane, fillMargins, isUnpadded, paddedPlaneBytes } from "./padded-plane.ts";
import { forWindowPositions } from "./sliding-window.ts";
import type { ResolvedWindow } from "./window.ts";
import type { WindowFunction } from "./window-function.ts";

/** Shapes and fused operations of one depthwise convolution kernel, with one output channel per input channel. */
export interface DepthwiseRequest {
  readonly batch: number;
  readonly channels: number;
  readonly window: ResolvedWindow;
  readonly bias: boolean;
  readonly activation: Activation;
  /** int32 takes no activation. */
  readonly type: "float32" | "int32";
}

/**
 * Generates the kernel of a depthwise convolution, in which each channel has a filter of its own. Parameters: x [batch, channels, height, width],
 * weights [channels, 1, height, width], bias if requested, y, and scratch when `scratchBytes` is not 0. One piece (unit of parallel
 * work) computes one plane.
 */
export function depthwise(request: DepthwiseRequest): Kernel {
  const { batch, channels, window, bias, activation, type } = request;
  const { size, output } = window;
  const taps = size[0] * size[1];
  const copies = !isUnpadded(window);
  const sums: WindowFunction = { window, compute: { kind: "weights", channels, bias, activation } };
  const machine = type === "float32" ? { request: sums } : undefined;
  return defineKernel({
    family: "depthwise",
    request: { channels, window, bias, activation, type },
    inputs: ["x", "weights"],
    optional: { bias },
    outputs: ["y"],
    pieces: batch * channels,
    pieceNanoseconds: output[0] * output[1] * (taps * 0.1 + 1) + 20,
    scratchBytes: Math.max(
      copies ? paddedPlaneBytes(window) : 0,
      machine === undefined ? 0 : machineScratchBytes("depthwise", machine.request),
    ),
    machine,
    emit(f, { x, weights, y, bias: biasAt, scratch: scratchAt }, from, to) {
      const scratch = copies ? scratchAt : undefined;
      if (scratch !== undefined) fillMargins(f, window, scratch, 0);
      f.range(from, to, 1, (plane) => {
        const channel = f.value(i32.remU(plane, i32.const(channels)));
        const source = f.value(offsetBy(x, plane, window.input[0] * window.input[1] * floatBytes));
        if (scratch !== undefined) copyPlane(f, window, source, scratch);
        const kernel = f.value(offsetBy(weights, channel, taps * floatBytes));
        const start = f.value(biasAt === undefined ? v128.zero : v128.load32Splat(offsetBy(biasAt, channel, floatBytes)));
        const target = f.value(offsetBy(y, plane, output[0] * output[1] * floatBytes));
        forWindowPositions(f, window, scratch ?? source, (place) => {
          const sum = f.value(start);
          place.forTaps((value, tapBytes) => {
            const factor = v128.load32Splat(i32.add(kernel, tapBytes));
            f.set(sum, type === "int32" ? i32x4.add(sum, i32x4.mul(value, factor)) : f.madd(value, factor, sum));
          });
          storeLanes(f, f.value(i32.add(target, place.offset)), activate(f, activation, sum), place.lanes);
        });
      });
    },
  });
}
