/** Padding as copies: what is there first, then axis by axis what lies before and behind it, from the last axis on. */
import type { NodeOf } from "../ir/graph.ts";
import { elementCount } from "../../tensor.ts";
import { stridesOf } from "../ir/broadcast.ts";
import type { OperationOf } from "../ir/operations.ts";
import { stridedCopyCall } from "./movement.ts";
import type { LoweredNode, LoweredCall } from "./lowered-node.ts";

type RepeatingMode = Exclude<OperationOf<"pad">["mode"], "constant">;

export function lowerPad({ operation, inputs, outputs }: NodeOf<"pad">): LoweredNode | undefined {
  const [x, value] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || x.type.dataType === "string") return undefined;
  const { mode, before, after } = operation;
  if (mode === "constant" && value?.type.dataType !== x.type.dataType) return undefined;
  const sizes = x.type.shape;
  if (mode !== "constant" && !sizes.every((size, axis) => canRepeat(mode, size, before[axis] ?? 0, after[axis] ?? 0)))
    return undefined;
  const target = stridesOf(y.type.shape);
  const placeOf = (coordinates: readonly number[]): number =>
    coordinates.reduce((sum, coordinate, axis) => sum + coordinate * (target[axis] ?? 0), 0);
  const calls: LoweredCall[] = [];
  if (elementCount(sizes) > 0)
    calls.push(stridedCopyCall({ from: x, to: y, shape: sizes, source: stridesOf(sizes), target, targetStart: placeOf(before) }));
  // The part of y that is there: where it begins, and its shape.
  const begins = [...before];
  const region = [...sizes];
  for (const axis of [...sizes.keys()].reverse()) {
    const [size = 0, first = 0, last = 0] = [sizes[axis], before[axis], after[axis]];
    for (const [at, count] of [
      [0, first],
      [first + size, last],
    ] as const) {
      const shape = region.with(axis, count);
      const targetStart = placeOf(begins.with(axis, at));
      if (elementCount(shape) === 0) continue;
      if (mode !== "constant") {
        const { from, step } = repeatedElements(mode, at < first, first, size);
        const source = target.map((stride, each) => (each === axis ? stride * step : stride));
        const sourceStart = placeOf(begins.with(axis, from));
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

/** Whether each pad can be copied from what is there, in one go. */
function canRepeat(mode: RepeatingMode, size: number, before: number, after: number): boolean {
  const most = mode === "reflect" ? size - 1 : mode === "wrap" ? size : Number.POSITIVE_INFINITY;
  return size > 0 && before <= most && after <= most;
}

/** The place in the output that the pad's first element repeats, and the step from there. `first` is where the input begins. */
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
