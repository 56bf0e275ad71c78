/** Shape inference of elementwise operations and of operations along an axis. */
import { at } from "../../../contract/checked.ts";
import { broadcastShape } from "../broadcast.ts";
import { describeType, sameShape, type TensorType } from "../tensor-type.ts";
import { givesBool, type OperationOf } from "../operations.ts";
import { checkAxis, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

/**
 * Output type of `binary`: the broadcast shape of both operands; bool for comparisons and logical functions, else the operands' type. Throws Error if
 * the types differ.
 */
export function inferBinary({ function: name }: OperationOf<"binary">, inputs: Types): Types {
  const [one, other] = operands(inputs, "a", "b");
  checkSameDataType(inputs);
  return [{ dataType: givesBool(name) ? "bool" : one.dataType, shape: broadcastShape(one.shape, other.shape) }];
}

/**
 * Output type of `select`: the broadcast shape of the condition and both branches, with the element type of the branches. Throws Error unless the
 * condition is bool.
 */
export function inferSelect(_: OperationOf<"select">, inputs: Types): Types {
  const [condition, then, otherwise] = operands(inputs, "condition", "then", "else");
  if (condition.dataType !== "bool") throw new Error(`the condition is ${describeType(condition)}, and must be bool`);
  checkSameDataType([then, otherwise]);
  return [{ dataType: then.dataType, shape: broadcastShape(condition.shape, then.shape, otherwise.shape) }];
}

/** Output type of `reduce`: the type of x without the axes `axes`, or with size 1 there if `keep` is set. */
export function inferReduce({ axes, keep }: OperationOf<"reduce">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  for (const axis of axes) checkAxis(axis, x);
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
  return [{ dataType: x.dataType, shape }];
}

/** Output type of `arg` (arg-max, arg-min): int64, the shape of x with size 1 at the axis. Throws Error for an empty axis. */
export function inferArg({ axis }: OperationOf<"arg">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  if (x.shape[axis] === 0) throw new Error(`axis ${axis} of ${describeType(x)} is empty, and has no largest or smallest element`);
  return [{ dataType: "int64", shape: x.shape.with(axis, 1) }];
}

/** Output type of `cumulative` (prefix sums and products): the type of x. Throws Error if the axis is out of range. */
export function inferCumulative({ axis }: OperationOf<"cumulative">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  return [x];
}

/** Output type of `softmax`: the type of x. Throws Error if the mask does not broadcast to x. */
export function inferSoftmax({ axis }: OperationOf<"softmax">, [x, mask]: Types): Types {
  if (x === undefined) throw new Error("expected the input x, got none");
  checkAxis(axis, x);
  if (mask !== undefined && !sameShape(broadcastShape(x.shape, mask.shape), x.shape)) {
    throw new Error(`the mask ${describeType(mask)} does not broadcast to ${describeType(x)}`);
  }
  return [x];
}

/** Output type of `layer-norm` and of `rms-norm`: the type of x. Throws Error if scale or shift do not broadcast to x. */
export function inferNorm({ axis }: OperationOf<"layer-norm" | "rms-norm">, inputs: Types): Types {
  const [x, ...others] = inputs;
  if (x === undefined || others.length > 2) throw new Error(`expected the inputs x, scale and shift, got ${inputs.length}`);
  checkAxis(axis, x);
  for (const other of others) {
    if (broadcastShape(other.shape, x.shape).length !== x.shape.length)
      throw new Error(`the scale or shift ${describeType(other)} does not broadcast to ${describeType(x)}`);
  }
  return [x];
}

/**
 * Output types of `top-k`: values and int64 indices, both of the shape of x with `count` elements along the axis. Throws Error if the axis has fewer.
 */
export function inferTopK({ axis, count }: OperationOf<"top-k">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  const size = at(x.shape, axis);
  if (!(count >= 0 && count <= size))
    throw new Error(`k is ${count}, and axis ${axis} of ${describeType(x)} has ${size} elements`);
  const shape = x.shape.with(axis, count);
  return [
    { dataType: x.dataType, shape },
    { dataType: "int64", shape },
  ];
}
