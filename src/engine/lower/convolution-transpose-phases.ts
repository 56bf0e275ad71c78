/**
 * A transposed convolution as a plain one. With a stride of s the outputs at u = r (mod s) see every s-th element of the kernel alone, from r on,
 * and between neighbours of them the input moves by one: each of these phases is a convolution of stride 1 with its part of the kernel turned
 * around (Shi and others, https://arxiv.org/abs/1609.05158). All phases together are one convolution with s times as many channels.
 */
import { elementCount } from "../../tensor.ts";
import { stridesOf } from "../ir/broadcast.ts";
import type { OperationOf } from "../ir/operations.ts";

/** One axis of that convolution. */
export interface PhasedAxis {
  readonly phases: number;
  /** Of its window; dilations are 1 but where there is one phase. */
  readonly size: number;
  readonly dilation: number;
  readonly pads: readonly [begin: number, end: number];
  /** Elements that each phase gives, how many of all phases together are left out at the beginning, and how many are kept behind them. */
  readonly phaseLength: number;
  readonly skip: number;
  readonly length: number;
}

/** Where one element of the kernel goes: row-major numbers of its phase, of its place in the window, and of itself in the kernel. */
export interface PhasedTap {
  readonly phase: number;
  readonly position: number;
  readonly tap: number;
}

export interface Phases {
  /** Weights are put in the same order where this is the same. */
  readonly layoutKey: string;
  readonly axes: readonly PhasedAxis[];
  readonly taps: readonly PhasedTap[];
  /** Of all axes together. */
  readonly phases: number;
  readonly window: number;
}

export interface TransposedShape {
  readonly operation: OperationOf<"convolution-transpose">;
  /** Of the input and of the output, without batch and channels. */
  readonly sizes: readonly number[];
  readonly kernel: readonly number[];
  readonly outputSizes: readonly number[];
}

export function decomposePhases({ operation, sizes, kernel, outputSizes }: TransposedShape): Phases {
  const { strides, dilations, pads } = operation;
  const axes = sizes.map((size, axis): PhasedAxis => {
    const [stride = 1, dilation = 1, pad = 0, length = 1] = [strides[axis], dilations[axis], pads[axis], kernel[axis]];
    return phasedAxis({ size, length, stride, dilation, pad, outputSize: outputSizes[axis] ?? 0 });
  });
  const [phases, windows, own] = [axes.map((axis) => axis.phases), axes.map((axis) => axis.size), stridesOf(kernel)];
  const [phaseSteps, positionSteps] = [stridesOf(phases), stridesOf(windows)];
  const taps = Array.from({ length: elementCount(kernel) }, (_, tap): PhasedTap => {
    const found = { phase: 0, position: 0, tap };
    for (const [axis, { phases: stride, size }] of axes.entries()) {
      const at = Math.floor(tap / (own[axis] ?? 1)) % (kernel[axis] ?? 1);
      const offset = stride === 1 ? at : at * (dilations[axis] ?? 1);
      found.phase += (offset % stride) * (phaseSteps[axis] ?? 1);
      found.position += (size - 1 - Math.floor(offset / stride)) * (positionSteps[axis] ?? 1);
    }
    return found;
  });
  const layoutKey = JSON.stringify([kernel, strides, dilations]);
  return { layoutKey, axes, taps, phases: elementCount(phases), window: elementCount(windows) };
}

interface Axis {
  readonly size: number;
  readonly length: number;
  readonly stride: number;
  readonly dilation: number;
  /** What is cut away at the beginning. */
  readonly pad: number;
  readonly outputSize: number;
}

function phasedAxis({ size, length, stride, dilation, pad, outputSize }: Axis): PhasedAxis {
  const own = stride === 1 ? dilation : 1;
  const reach = Math.floor(((length - 1) * dilation) / stride);
  // Where more is cut away than the window reaches over the edge, too much is computed and left out.
  const begin = Math.max(0, reach - Math.floor(pad / stride));
  const skip = pad - (reach - begin) * stride;
  const end = Math.max(0, Math.ceil((skip + outputSize) / stride) + reach - size - begin);
  const window = reach / own + 1;
  return {
    phases: stride,
    size: window,
    dilation: own,
    pads: [begin, end],
    phaseLength: size + begin + end - reach,
    skip,
    length: outputSize,
  };
}

/** Channels of a group, and how many groups there are. */
export interface PhasedChannels {
  readonly groups: number;
  readonly inputs: number;
  readonly outputs: number;
}

/** Weights [groups * inputs, outputs, kernel] as the convolution takes them: [groups * outputs * phases, inputs, window]. */
export function packPhases(
  packed: Float32Array,
  weights: Float32Array,
  { groups, inputs, outputs }: PhasedChannels,
  { taps, phases, window }: Phases,
): void {
  packed.fill(0); // phases need not have equally many elements of the kernel
  for (let group = 0; group < groups; group += 1)
    for (let output = 0; output < outputs; output += 1)
      for (let input = 0; input < inputs; input += 1) {
        const source = ((group * inputs + input) * outputs + output) * taps.length;
        const target = (group * outputs + output) * phases;
        for (const { phase, position, tap } of taps)
          packed[((target + phase) * inputs + input) * window + position] = weights[source + tap] ?? 0;
      }
}
