/** Sliding windows over one or two spatial axes in the form the 2-D kernels take: one axis becomes a plane of height 1. */
import { at } from "../../contract/checked.ts";
import type { Window } from "../ir/operations.ts";

type Pair = readonly [number, number];
type Sides = readonly [number, number, number, number];

/** A sliding window over planes of [height, width]. Every pair is [height, width], in elements. */
export interface Window2d {
  /** Size of the input plane. */
  readonly input: Pair;
  /** Size of the window, in taps. */
  readonly size: Pair;
  /** Steps of the window. */
  readonly strides: Pair;
  /** Distance between neighbouring taps. */
  readonly dilations: Pair;
  /** Rows and columns added to the input: [top, left, bottom, right]. */
  readonly pads: Sides;
}

/** The window over planes of a convolution or pooling with one or two spatial axes; one axis becomes the width. Undefined for other ranks. */
export function window2d(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): Window2d | undefined {
  if (sizes.length === 1) {
    const [size = 1, width = 1, stride = 1, dilation = 1] = [sizes[0], kernel[0], strides[0], dilations[0]];
    const [left = 0, right = 0] = pads;
    return { input: [1, size], size: [1, width], strides: [1, stride], dilations: [1, dilation], pads: [0, left, 0, right] };
  }
  if (sizes.length !== 2) return undefined;
  const [top = 0, left = 0, bottom = 0, right = 0] = pads;
  return {
    input: pair(sizes),
    size: pair(kernel),
    strides: pair(strides),
    dilations: pair(dilations),
    pads: [top, left, bottom, right],
  };
}

function pair([first = 1, second = 1]: readonly number[]): Pair {
  return [first, second];
}

/** The window of a pooling with ceil mode: rows and columns that the last windows exceed the input by are added to the bottom and right pads. */
export function ceilModeWindow(
  from: readonly number[],
  to: readonly number[],
  kernel: readonly number[],
  window: Window,
): Window2d | undefined {
  const plane = window2d(from, kernel, window);
  if (plane === undefined) return undefined;
  const target: Pair = to.length === 1 ? [1, at(to, 0)] : [at(to, 0), at(to, 1)];
  const missing = (axis: 0 | 1): number => {
    const reach = (target[axis] - 1) * plane.strides[axis] + (plane.size[axis] - 1) * plane.dilations[axis] + 1;
    return Math.max(at(plane.pads, axis + 2), reach - plane.input[axis] - plane.pads[axis]);
  };
  const [top, left] = plane.pads;
  return { ...plane, pads: [top, left, missing(0), missing(1)] };
}
