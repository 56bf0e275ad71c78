/** Operations that move elements and change none. */
import { elementCount } from "../../../tensor.ts";
import { broadcastShape } from "../broadcast.ts";
import { describeType, sameShape, type TensorType } from "../graph.ts";
import type { OperationOf } from "../operations.ts";
import { checkAxis, checkRank, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

export function inferSlice({ starts, steps, sizes }: OperationOf<"slice">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  for (const [name, list] of Object.entries({ starts, steps, sizes })) checkRank(list, x.shape.length, name);
  for (const [axis, size] of sizes.entries()) {
    const first = starts[axis] ?? 0;
    const last = first + (size - 1) * (steps[axis] ?? 1);
    const length = x.shape[axis] ?? 0;
    if (size > 0 && !(first >= 0 && first < length && last >= 0 && last < length))
      throw new Error(`it reads outside of ${describeType(x)}`);
  }
  return [{ dataType: x.dataType, shape: sizes }];
}

export function inferPad({ mode, before, after }: OperationOf<"pad">, inputs: Types): Types {
  const [x] = mode === "constant" ? operands(inputs, "x", "value") : operands(inputs, "x");
  checkRank(before, x.shape.length, "before");
  checkRank(after, x.shape.length, "after");
  if ([...before, ...after].some((count) => count < 0)) throw new Error("it pads by a negative number");
  const shape = x.shape.map((size, axis) => {
    const [front = 0, back = 0] = [before[axis], after[axis]];
    if (size === 0 && mode !== "constant" && front + back > 0) throw new Error("an empty axis has no edge");
    if (mode === "reflect" && size === 1 && front + back > 0) throw new Error("an axis of one element reflects nothing");
    return size + front + back;
  });
  return [{ dataType: x.dataType, shape }];
}

export function inferConcat({ axis }: OperationOf<"concat">, inputs: Types): Types {
  const [first] = inputs;
  if (first === undefined) throw new Error("it joins nothing");
  checkAxis(axis, first);
  checkSameDataType(inputs);
  let size = 0;
  for (const { shape } of inputs) {
    if (shape.length !== first.shape.length || !sameShape(shape.with(axis, 0), first.shape.with(axis, 0)))
      throw new Error(`it joins ${inputs.map(describeType).join(" and ")}`);
    size += shape[axis] ?? 0;
  }
  return [{ dataType: first.dataType, shape: first.shape.with(axis, size) }];
}

export function inferTranspose({ permutation }: OperationOf<"transpose">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkRank(permutation, x.shape.length, "permutation");
  if (permutation.toSorted((one, other) => one - other).some((axis, place) => axis !== place)) {
    throw new Error(`[${permutation.join(", ")}] is no order of axes`);
  }
  return [{ dataType: x.dataType, shape: permutation.map((axis) => x.shape[axis] ?? 0) }];
}

export function inferReshape({ shape }: OperationOf<"reshape">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  if (shape.some((size) => !Number.isInteger(size) || size < 0) || elementCount(shape) !== elementCount(x.shape))
    throw new Error(`${describeType(x)} does not fill [${shape.join(", ")}]`);
  return [{ dataType: x.dataType, shape }];
}

export function inferExpand({ shape }: OperationOf<"expand">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  if (!sameShape(broadcastShape(x.shape, shape), shape))
    throw new Error(`${describeType(x)} does not broadcast to [${shape.join(", ")}]`);
  return [{ dataType: x.dataType, shape }];
}
