/** Shape inference of operations that move elements without changing them. */
import { at } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { broadcastShape } from "../broadcast.ts";
import { describeType, sameShape, type TensorType } from "../tensor-type.ts";
import type { OperationOf } from "../operations.ts";
import { checkAxis, checkRank, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

/** Output type of `slice`: the shape `sizes`. Throws Error if an index is out of range. */
export function inferSlice({ starts, steps, sizes }: OperationOf<"slice">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  for (const [name, list] of Object.entries({ starts, steps, sizes })) checkRank(list, x.shape.length, name);
  for (const [axis, size] of sizes.entries()) {
    const first = at(starts, axis);
    const last = first + (size - 1) * at(steps, axis);
    const length = at(x.shape, axis);
    if (size > 0 && !(first >= 0 && first < length && last >= 0 && last < length))
      throw new Error(`indices ${first} to ${last} of axis ${axis} are out of range for ${describeType(x)}`);
  }
  return [{ dataType: x.dataType, shape: sizes }];
}

/**
 * Output type of `pad`: each axis with its padding added. Throws Error for negative padding, and for an axis too short to be repeated by the mode.
 */
export function inferPad({ mode, before, after }: OperationOf<"pad">, inputs: Types): Types {
  const [x] = mode === "constant" ? operands(inputs, "x", "value") : operands(inputs, "x");
  checkRank(before, x.shape.length, "before");
  checkRank(after, x.shape.length, "after");
  if ([...before, ...after].some((count) => count < 0))
    throw new Error(`padding [${[...before, ...after].join(", ")}] is negative`);
  const shape = x.shape.map((size, axis) => {
    const [front, back] = [at(before, axis), at(after, axis)];
    if (size === 0 && mode !== "constant" && front + back > 0)
      throw new Error(`axis ${axis} is empty, and the mode "${mode}" has nothing to repeat`);
    if (mode === "reflect" && size === 1 && front + back > 0)
      throw new Error(`axis ${axis} has one element, and the mode "reflect" needs two`);
    return size + front + back;
  });
  return [{ dataType: x.dataType, shape }];
}

/** Output type of `concat`: the sizes along the axis added up. Throws Error if the inputs differ in another axis or in element type. */
export function inferConcat({ axis }: OperationOf<"concat">, inputs: Types): Types {
  const [first] = inputs;
  if (first === undefined) throw new Error("expected at least one input, got none");
  checkAxis(axis, first);
  checkSameDataType(inputs);
  let size = 0;
  for (const { shape } of inputs) {
    if (shape.length !== first.shape.length || !sameShape(shape.with(axis, 0), first.shape.with(axis, 0)))
      throw new Error(`shapes differ along other axes than ${axis}: ${inputs.map(describeType).join(", ")}`);
    size += at(shape, axis);
  }
  return [{ dataType: first.dataType, shape: first.shape.with(axis, size) }];
}

/** Output type of `transpose`: the axes in the order of `permutation`. Throws Error unless it is a permutation of all axes. */
export function inferTranspose({ permutation }: OperationOf<"transpose">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkRank(permutation, x.shape.length, "permutation");
  if (permutation.toSorted((one, other) => one - other).some((axis, index) => axis !== index)) {
    throw new Error(`[${permutation.join(", ")}] is not a permutation of ${x.shape.length} axes`);
  }
  return [{ dataType: x.dataType, shape: permutation.map((axis) => at(x.shape, axis)) }];
}

/** Output type of `reshape`: the shape `shape`. Throws Error if its element count differs from the element count of x. */
export function inferReshape({ shape }: OperationOf<"reshape">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  if (shape.some((size) => !Number.isInteger(size) || size < 0) || elementCount(shape) !== elementCount(x.shape))
    throw new Error(`${describeType(x)} cannot be reshaped to [${shape.join(", ")}]`);
  return [{ dataType: x.dataType, shape }];
}

/** Output type of `expand`: the shape `shape`. Throws Error if x does not broadcast to it. */
export function inferExpand({ shape }: OperationOf<"expand">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  if (!sameShape(broadcastShape(x.shape, shape), shape))
    throw new Error(`${describeType(x)} does not broadcast to [${shape.join(", ")}]`);
  return [{ dataType: x.dataType, shape }];
}
