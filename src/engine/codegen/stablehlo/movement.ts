/** Operations that move elements, in StableHLO. */
import { at, required } from "../../../contract/checked.ts";
import type { OperationOf } from "../../ir/operations.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";
import { takeAlong } from "./indexing.ts";

/** States `slice`. A negative step takes the elements in rising order, and turns the axis round. */
export function stateSlice(hlo: HloFunction, { starts, steps, sizes }: OperationOf<"slice">, [x]: readonly HloValue[]): HloValue {
  const axes = sizes.map((size, axis) => {
    const [start, step] = [at(starts, axis), at(steps, axis)];
    if (size === 0) return { start: 0, limit: 0, step: 1 };
    const last = start + (size - 1) * step;
    return { start: Math.min(start, last), limit: Math.max(start, last) + 1, step: Math.max(1, Math.abs(step)) };
  });
  const taken = hlo.slice(
    required(x, "the operand"),
    axes.map(({ start }) => start),
    axes.map(({ limit }) => limit),
    axes.map(({ step }) => step),
  );
  return hlo.reverse(
    taken,
    [...steps.keys()].filter((axis) => at(steps, axis) < 0 && at(sizes, axis) > 1),
  );
}

/** States `pad`. Every mode but "constant" takes the elements along each padded axis by their indices. */
export function statePad(
  hlo: HloFunction,
  { mode, before, after }: OperationOf<"pad">,
  [x, value]: readonly HloValue[],
): HloValue {
  const data = required(x, "the operand");
  if (mode === "constant") {
    const scalar = value === undefined ? hlo.scalar(data.type.dataType, 0) : hlo.reshape(value, []);
    return hlo.pad(data, scalar, before, after);
  }
  let result = data;
  for (const [axis, size] of data.type.shape.entries()) {
    const [first, last] = [at(before, axis), at(after, axis)];
    if (first === 0 && last === 0) continue;
    const indices = Array.from({ length: size + first + last }, (_, index) => repeatedIndex(index - first, size, mode));
    result = takeAlong(hlo, result, axis, hlo.integers(indices));
  }
  return result;
}

/** The index of an axis of `size` elements that an index outside of it repeats. */
function repeatedIndex(index: number, size: number, mode: "reflect" | "edge" | "wrap"): number {
  if (index >= 0 && index < size) return index;
  if (mode === "edge") return index < 0 ? 0 : size - 1;
  if (mode === "wrap") return ((index % size) + size) % size;
  const period = 2 * (size - 1);
  const folded = ((index % period) + period) % period;
  return folded < size ? folded : period - folded;
}

/** States `concat`. */
export function stateConcat(hlo: HloFunction, { axis }: OperationOf<"concat">, inputs: readonly HloValue[]): HloValue {
  return hlo.concatenate(inputs, axis);
}

/** States `transpose`. */
export function stateTranspose(hlo: HloFunction, { permutation }: OperationOf<"transpose">, [x]: readonly HloValue[]): HloValue {
  return hlo.transpose(required(x, "the operand"), permutation);
}

/** States `reshape`. */
export function stateReshape(hlo: HloFunction, { shape }: OperationOf<"reshape">, [x]: readonly HloValue[]): HloValue {
  return hlo.reshape(required(x, "the operand"), shape);
}

/** States `expand`. */
export function stateExpand(hlo: HloFunction, { shape }: OperationOf<"expand">, [x]: readonly HloValue[]): HloValue {
  return hlo.broadcast(required(x, "the operand"), shape);
}
