/** Sizes of sliding windows over spatial axes, and indices of padding, shared by shape inference, the interpreter, StableHLO and the ONNX operators. */
import { at } from "../../contract/checked.ts";
import type { OperationOf, Window } from "./operations.ts";

/** Elements that a kernel of `size` elements covers along one axis when they are `dilation` elements apart: (size - 1) * dilation + 1. */
export function dilatedSize(size: number, dilation: number): number {
  return (size - 1) * dilation + 1;
}

/** Padding of spatial axis `axis` in elements, before and after added up. `pads` lists all paddings before, then all after, as in ONNX. */
export function totalPadding(pads: readonly number[], axis: number): number {
  return at(pads, axis) + at(pads, axis + pads.length / 2);
}

/**
 * Distance that a window can move along each axis: the padded size minus the extent of the kernel, in elements. Negative if the window does not fit. The window
 * has as many strides, dilations and pairs of pads as there are sizes.
 */
export function windowTravel(
  sizes: readonly number[],
  kernel: readonly number[],
  { dilations, pads }: Window,
): readonly number[] {
  return sizes.map((size, axis) => size + totalPadding(pads, axis) - dilatedSize(at(kernel, axis), at(dilations, axis)));
}

/** The number of positions of a window along each axis, including positions that end in the padding: the spatial shape of a convolution. */
export function windowCounts(sizes: readonly number[], kernel: readonly number[], window: Window): readonly number[] {
  return windowTravel(sizes, kernel, window).map((travel, axis) => Math.floor(travel / at(window.strides, axis)) + 1);
}

/** The spatial shape of a transposed convolution: of the image whose windows are the input's elements. */
export function transposedWindowSizes(
  sizes: readonly number[],
  kernel: readonly number[],
  { strides, dilations, pads }: Window,
): readonly number[] {
  return sizes.map(
    (size, axis) =>
      (size - 1) * at(strides, axis) + dilatedSize(at(kernel, axis), at(dilations, axis)) - totalPadding(pads, axis),
  );
}

/** The index in an axis of `size` elements that an index outside of it repeats; -1 for constant padding. */
export function paddedIndex(index: number, size: number, mode: OperationOf<"pad">["mode"]): number {
  if (index >= 0 && index < size) return index;
  if (mode === "constant") return -1;
  if (mode === "edge") return index < 0 ? 0 : size - 1;
  if (mode === "wrap") return ((index % size) + size) % size;
  const period = 2 * (size - 1);
  const folded = ((index % period) + period) % period;
  return folded < size ? folded : period - folded;
}
