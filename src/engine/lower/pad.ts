/** Lowers padding to strided copies: the input first, then, from the last axis to the first, the pads before and after it. */
import type { NodeOf } from "../ir/graph.ts";
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { contiguousStrides } from "../ir/broadcast.ts";
import type { OperationOf } from "../ir/operations.ts";
import { stridedCopyCall } from "./movement.ts";
import type { LoweredNode, LoweredCall } from "./lowered-node.ts";

type RepeatingMode = Exclude<OperationOf<"pad">["mode"], "constant">;

/** Lowers padding of any mode. undefined if a pad is longer than the data it repeats; the interpreter then computes it. */
export function lowerPad({ operation, inputs, outputs }: NodeOf<"pad">): LoweredNode | undefined {
  const [x, value] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || x.type.dataType === "string") return undefined;
  const { mode, before, after } = operation;
  if (mode === "constant" && value?.type.dataType !== x.type.dataType) return undefined;
  const sizes = x.type.shape;
  if (mode !== "constant" && !sizes.every((size, axis) => canRepeat(mode, size, at(before, axis), at(after, axis))))
    return undefined;
  const target = contiguousStrides(y.type.shape);
  const getOffset = (coordinates: readonly number[]): number =>
    coordinates.reduce((sum, coordinate, axis) => sum + coordinate * at(target, axis), 0);
  const calls: LoweredCall[] = [];
  if (elementCount(sizes) > 0)
    calls.push(
      stridedCopyCall({ from: x, to: y, shape: sizes, source: contiguousStrides(sizes), target, targetStart: getOffset(before) }),
    );
  // The part of y that is filled so far: its first coordinate and its shape.
  const begins = [...before];
  const region = [...sizes];
  for (const axis of [...sizes.keys()].reverse()) {
    const [size, first, last] = [at(sizes, axis), at(before, axis), at(after, axis)];
    for (const [start, count] of [
      [0, first],
      [first + size, last],
    ] as const) {
      const shape = region.with(axis, count);
      const targetStart = getOffset(begins.with(axis, start));
      if (elementCount(shape) === 0) continue;
      if (mode !== "constant") {
        const { from, step } = repeatedElements(mode, start < first, first, size);
        const source = target.map((stride, each) => (each === axis ? stride * step : stride));
        const sourceStart = getOffset(begins.with(axis, from));
        calls.push(stridedCopyCall({ from: y, to: y, shape, source, target, targetStart, sourceStart }));
      } else if (value !== undefined) {
        calls.push(stridedCopyCall({ from: value, to: y, shape, source: shape.map(() => 0), target, targetStart }));
      }
    }
    region[axis] = first + size + last;
    begins[axis] = 0;
  }
  return { calls };
}

/** Whether each pad can be copied from the input with a single strided copy. */
function canRepeat(mode: RepeatingMode, size: number, before: number, after: number): boolean {
  const limit = mode === "reflect" ? size - 1 : mode === "wrap" ? size : Number.POSITIVE_INFINITY;
  return size > 0 && before <= limit && after <= limit;
}

/** The coordinate in the output from which a pad's first element is copied, and the step to the next one. `first` is where the input begins. */
function repeatedElements(
  mode: RepeatingMode,
  isBefore: boolean,
  first: number,
  size: number,
): { readonly from: number; readonly step: number } {
  if (mode === "reflect") return { from: isBefore ? 2 * first : first + size - 2, step: -1 };
  if (mode === "wrap") return { from: isBefore ? size : first, step: 1 };
  return { from: isBefore ? first : first + size - 1, step: 0 };
}
