/** Shape inference of elementwise operations and of operations along an axis. */
import { at } from "../../../checked.ts";
import { broadcastShape } from "../broadcast.ts";
import { describeType, sameShape, type TensorType } from "../graph.ts";
import { givesBool, type OperationOf } from "../operations.ts";
import { checkAxis, checkSameDataType, operands } from "./operands.ts";

type Types = readonly TensorType[];

/** Rule of `binary`: the broadcast shape, and the operands' type or bool. */
export function inferBinary({ function: name }: OperationOf<"binary">, inputs: Types): Types {
  const [one, other] = operands(inputs, "a", "b");
  checkSameDataType(inputs);
  return [{ dataType: givesBool(name) ? "bool" : one.dataType, shape: broadcastShape(one.shape, other.shape) }];
}

/** Rule of `select`: the broadcast shape of condition and both branches. */
export function inferSelect(_: OperationOf<"select">, inputs: Types): Types {
  const [condition, then, otherwise] = operands(inputs, "condition", "then", "else");
  if (condition.dataType !== "bool") throw new Error(`the condition is ${describeType(condition)}, and must be bool`);
  checkSameDataType([then, otherwise]);
  return [{ dataType: then.dataType, shape: broadcastShape(condition.shape, then.shape, otherwise.shape) }];
}

/** Rule of `reduce`: the input without its reduced axes, or with size 1 there. */
export function inferReduce({ axes, keep }: OperationOf<"reduce">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  for (const axis of axes) checkAxis(axis, x);
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
  return [{ dataType: x.dataType, shape }];
}

/** Rule of `arg`: int64, the axis with size 1. Throws for an empty axis. */
export function inferArg({ axis }: OperationOf<"arg">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  if (x.shape[axis] === 0) throw new Error(`axis ${axis} of ${describeType(x)} is empty, and has no largest or smallest element`);
  return [{ dataType: "int64", shape: x.shape.with(axis, 1) }];
}

/** Rule of `cumulative`: the type of the input. */
export function inferCumulative({ axis }: OperationOf<"cumulative">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  return [x];
}

/** Rule of `softmax`: the type of x. Throws if the mask does not broadcast to it. */
export function inferSoftmax({ axis }: OperationOf<"softmax">, [x, mask]: Types): Types {
  if (x === undefined) throw new Error("expected the input x, got none");
  checkAxis(axis, x);
  if (mask !== undefined && !sameShape(broadcastShape(x.shape, mask.shape), x.shape)) {
    throw new Error(`the mask ${describeType(mask)} does not broadcast to ${describeType(x)}`);
  }
  return [x];
}

/** Rule of `layer-norm`: the type of x. Throws if scale or shift do not broadcast to it. */
export function inferLayerNorm({ axis }: OperationOf<"layer-norm">, inputs: Types): Types {
  const [x, ...others] = inputs;
  if (x === undefined || others.length > 2) throw new Error(`expected the inputs x, scale and shift, got ${inputs.length}`);
  checkAxis(axis, x);
  for (const other of others) {
    if (broadcastShape(other.shape, x.shape).length !== x.shape.length)
      throw new Error(`the scale or shift ${describeType(other)} does not broadcast to ${describeType(x)}`);
  }
  return [x];
}

/** Rule of `top-k`: values and int64 indices, the axis with `count` elements. */
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
