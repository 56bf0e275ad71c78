/** Sliding windows over planes of [height, width], for convolution and pooling. */

/** A sliding window over a plane: sizes, strides, dilations and pads in elements, with the meaning of the ONNX Conv attributes. */
export interface KernelWindow {
  /** Size of the input. */
  readonly input: readonly [height: number, width: number];
  /** Size of the window in taps; a convolution's kernel size. */
  readonly size: readonly [height: number, width: number];
  /** Distance in elements between neighbouring positions of the window. Default: 1, 1. */
  readonly strides?: readonly [down: number, right: number];
  /** Distance in elements between neighbouring taps. Default: 1, 1. */
  readonly dilations?: readonly [down: number, right: number];
  /** Rows and columns added around the input. Default: 0. */
  readonly pads?: readonly [top: number, left: number, bottom: number, right: number];
}

/** The depth axis of a 3-D window, which precedes height and width. All members count planes. */
export interface DepthWindow {
  readonly input: number;
  readonly size: number;
  readonly stride: number;
  readonly dilation: number;
  /** Number of planes of zeros before the first input plane. */
  readonly pad: number;
  readonly output: number;
}

/** A window with all defaults filled in, and the size of its output. */
export interface ResolvedWindow extends Required<KernelWindow> {
  readonly output: readonly [height: number, width: number];
  /** Size of the input including pads. */
  readonly padded: readonly [height: number, width: number];
}

/**
 * Returns the window with default strides, dilations and pads filled in, and with the sizes of the padded input and of the output. The output size is
 * floor((padded - dilation * (size - 1) - 1) / stride) + 1 on each axis.
 */
export function resolveWindow(window: KernelWindow): ResolvedWindow {
  const { input, size, strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0] } = window;
  const padded = [input[0] + pads[0] + pads[2], input[1] + pads[1] + pads[3]] as const;
  const places = (axis: 0 | 1): number => Math.floor((padded[axis] - dilations[axis] * (size[axis] - 1) - 1) / strides[axis]) + 1;
  return { input, size, strides, dilations, pads, padded, output: [places(0), places(1)] };
}

/** Windows with more taps use loops instead of unrolled code, which bounds the code size for adversarial models. */
const maxUnrolledTaps = 64;

/** Whether generated code is unrolled over the elements (taps) of this window. If false, it contains a loop over them, which bounds its size. */
export function isUnrolled({ size }: ResolvedWindow): boolean {
  return size[0] * size[1] <= maxUnrolledTaps;
}

/** For a 1 x 1 window without stride and pads, returns the window over the plane as a single row of height * width; else the window unchanged. */
export function flattenPointwise(window: ResolvedWindow): ResolvedWindow {
  const { size, strides, pads, input } = window;
  if (![...size, ...strides].every((value) => value === 1) || pads.some((pad) => pad > 0)) return window;
  const row = [1, input[0] * input[1]] as const;
  return { ...window, dilations: [1, 1], input: row, padded: row, output: row };
}
