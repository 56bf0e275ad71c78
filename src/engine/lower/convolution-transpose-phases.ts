/**
 * Decomposes a transposed convolution into a plain convolution (sub-pixel convolution, Shi et al. 2016, https://arxiv.org/abs/1609.05158).
 *
 * With stride s, the output elements at positions u = r (mod s) depend only on every s-th kernel element, starting at element r, and moving from
 * one of them to the next moves the window by one input element. So each residue r, a "phase", is a convolution of stride 1 with the kernel
 * elements of that phase in reverse order. All phases together are one convolution with s times as many output channels.
 */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { contiguousStrides } from "../ir/broadcast.ts";
import type { OperationOf } from "../ir/operations.ts";

/** One spatial axis of a transposed convolution that is decomposed into phases. A phase is one remainder of the output position modulo the stride. */
export interface PhasedAxis {
  /** Number of phases: the stride of the transposed convolution. */
  readonly phases: number;
  /** Window size of each phase, in taps. */
  readonly size: number;
  /** Window dilation; always 1 when there is more than one phase. */
  readonly dilation: number;
  /** Zeros added to the input before and after it. */
  readonly pads: readonly [begin: number, end: number];
  /** Output elements of one phase. */
  readonly phaseLength: number;
  /** Leading elements of the interleaved phases that are cropped. */
  readonly skip: number;
  /** Output elements kept after the cropped ones: the output size of the transposed convolution. */
  readonly length: number;
}

/** Where one kernel element is stored after decomposition. All three are row-major indices over the spatial axes. */
export interface PhasedTap {
  /** Index of its phase. */
  readonly phase: number;
  /** Index within the window of that phase. */
  readonly position: number;
  /** Index in the original kernel. */
  readonly tap: number;
}

/** A transposed convolution as a stride-1 convolution with one output channel per original channel and phase. */
export interface Phases {
  /** Equal keys mean the same weight layout, so weights packed for one serve the other. */
  readonly layoutKey: string;
  /** The spatial axes, outermost first. */
  readonly axes: readonly PhasedAxis[];
  /** One entry per kernel element. */
  readonly taps: readonly PhasedTap[];
  /** Number of phases, all axes multiplied. */
  readonly phases: number;
  /** Taps of one phase's window, all axes multiplied. */
  readonly window: number;
}

/** The operation and the spatial sizes (without batch and channels) that determine a decomposition. */
export interface TransposedShape {
  /** Strides, dilations and pads of the transposed convolution. */
  readonly operation: OperationOf<"convolution-transpose">;
  /** Input size per spatial axis. */
  readonly sizes: readonly number[];
  /** Kernel size per spatial axis. */
  readonly kernel: readonly number[];
  /** Output size per spatial axis. */
  readonly outputSizes: readonly number[];
}

/**
 * Decomposes a transposed convolution into one plain convolution per phase of the output: computes the windows and pads of the phases, and the phase and
 * position of each kernel element.
 */
export function decomposePhases({ operation, sizes, kernel, outputSizes }: TransposedShape): Phases {
  const { strides, dilations, pads } = operation;
  const axes = sizes.map((size, axis): PhasedAxis => {
    const [stride, dilation, pad, length] = [at(strides, axis), at(dilations, axis), at(pads, axis), at(kernel, axis)];
    return phasedAxis({ size, length, stride, dilation, pad, outputSize: at(outputSizes, axis) });
  });
  const [phases, windows, kernelSteps] = [
    axes.map((axis) => axis.phases),
    axes.map((axis) => axis.size),
    contiguousStrides(kernel),
  ];
  const [phaseSteps, positionSteps] = [contiguousStrides(phases), contiguousStrides(windows)];
  const taps = Array.from({ length: elementCount(kernel) }, (_, tap): PhasedTap => {
    const found = { phase: 0, position: 0, tap };
    for (const [axis, { phases: stride, size }] of axes.entries()) {
      const index = Math.floor(tap / at(kernelSteps, axis)) % at(kernel, axis);
      const offset = stride === 1 ? index : index * at(dilations, axis);
      found.phase += (offset % stride) * at(phaseSteps, axis);
      found.position += (size - 1 - Math.floor(offset / stride)) * at(positionSteps, axis);
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
  /** Output elements cropped at the beginning. */
  readonly pad: number;
  readonly outputSize: number;
}

function phasedAxis({ size, length, stride, dilation, pad, outputSize }: Axis): PhasedAxis {
  const own = stride === 1 ? dilation : 1;
  const reach = Math.floor(((length - 1) * dilation) / stride);
  // When the crop exceeds the overlap of the window with the left border, leading elements are computed and skipped.
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

/** Channel counts of a grouped transposed convolution. `inputs` and `outputs` count the channels of one group. */
export interface PhasedChannels {
  /** Number of groups. */
  readonly groups: number;
  /** Input channels of one group. */
  readonly inputs: number;
  /** Output channels of one group. */
  readonly outputs: number;
}

/** Reorders weights [groups * inputs, outputs, kernel] into the layout of the decomposed convolution: [groups * outputs * phases, inputs, window]. */
export function packPhases(
  packed: Float32Array,
  weights: Float32Array,
  { groups, inputs, outputs }: PhasedChannels,
  { taps, phases, window }: Phases,
): void {
  packed.fill(0); // phases may have different numbers of taps: unused window positions stay zero
  for (let group = 0; group < groups; group += 1)
    for (let output = 0; output < outputs; output += 1)
      for (let input = 0; input < inputs; input += 1) {
        const source = ((group * inputs + input) * outputs + output) * taps.length;
        const target = (group * outputs + output) * phases;
        for (const { phase, position, tap } of taps)
          packed[((target + phase) * inputs + input) * window + position] = weights[source + tap] ?? 0;
      }
}
