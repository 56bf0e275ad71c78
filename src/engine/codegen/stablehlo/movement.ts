/** Lowers operations that move elements to StableHLO: slice, pad, concat, transpose, reshape, expand. */
import { at, required } from "../../../contract/checked.ts";
import type { OperationOf } from "../../ir/operations.ts";
import { paddedIndex } from "../../ir/window-arithmetic.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";
import { takeAlong } from "./indexing.ts";

/** Lowers `slice` to StableHLO. A negative step becomes a slice with a positive step, followed by a reversal of the axis. */
export function emitSlice(hlo: HloFunction, { starts, steps, sizes }: OperationOf<"slice">, [x]: readonly HloValue[]): HloValue {
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

/** Lowers `pad` to StableHLO. All modes except "constant" gather the elements along each padded axis by computed indices. */
export function emitPad(
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
    const indices = Array.from({ length: size + first + last }, (_, index) => paddedIndex(index - first, size, mode));
    result = takeAlong(hlo, result, axis, hlo.integers(indices));
  }
  return result;
}

/** Lowers `concat` to StableHLO. */
export function emitConcat(hlo: HloFunction, { axis }: OperationOf<"concat">, inputs: readonly HloValue[]): HloValue {
  return hlo.concatenate(inputs, axis);
}

/** Lowers `transpose` to StableHLO. */
export function emitTranspose(hlo: HloFunction, { permutation }: OperationOf<"transpose">, [x]: readonly HloValue[]): HloValue {
  return hlo.transpose(required(x, "the operand"), permutation);
}

/** Lowers `reshape` to StableHLO. */
export function emitReshape(hlo: HloFunction, { shape }: OperationOf<"reshape">, [x]: readonly HloValue[]): HloValue {
  return hlo.reshape(required(x, "the operand"), shape);
}

/** Lowers `expand` to StableHLO. */
export function emitExpand(hlo: HloFunction, { shape }: OperationOf<"expand">, [x]: readonly HloValue[]): HloValue {
  return hlo.broadcast(required(x, "the operand"), shape);
}
