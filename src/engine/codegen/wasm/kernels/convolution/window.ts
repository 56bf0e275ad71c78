/** A window that slides over planes of [height, width]: what convolutions and pools have in common. */

export interface Window {
  /** Height and width of the input. */
  readonly input: readonly [height: number, width: number];
  /** Of the window; a convolution's kernel. */
  readonly size: readonly [height: number, width: number];
  /** 1, 1 where absent. */
  readonly strides?: readonly [down: number, right: number];
  readonly dilations?: readonly [down: number, right: number];
  /** Rows and columns added around the input; 0 where absent. */
  readonly pads?: readonly [top: number, left: number, bottom: number, right: number];
}

/** A third axis, which comes before height and width. */
export interface DepthWindow {
  readonly input: number;
  readonly size: number;
  readonly stride: number;
  readonly dilation: number;
  /** Planes of zeros before the first. */
  readonly pad: number;
  readonly output: number;
}

/** A window with nothing left out, and the size of what it gives. */
export interface ResolvedWindow extends Required<Window> {
  readonly output: readonly [height: number, width: number];
  /** Height and width of the input with its pads. */
  readonly padded: readonly [height: number, width: number];
}

export function resolveWindow(window: Window): ResolvedWindow {
  const { input, size, strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0] } = window;
  const padded = [input[0] + pads[0] + pads[2], input[1] + pads[1] + pads[3]] as const;
  const places = (axis: 0 | 1): number => Math.floor((padded[axis] - dilations[axis] * (size[axis] - 1) - 1) / strides[axis]) + 1;
  return { input, size, strides, dilations, pads, padded, output: [places(0), places(1)] };
}

/** Larger windows are gone through in loops, so that the code of hostile ones stays small. */
const maxUnrolledTaps = 64;

/** Whether a window's code is written out place by place. */
export function isUnrolled({ size }: ResolvedWindow): boolean {
  return size[0] * size[1] <= maxUnrolledTaps;
}
