/** Operations that look at elements one by one or along an axis. */
import { broadcastShape } from "../broadcast.ts";
import { describeType, sameShape, type TensorType } from "../graph.ts";
import type { BinaryFunction, OperationOf } from "../operations.ts";
import { checkAxis, checkSameDataType, operands } from "./operands.ts";

const givesBool: ReadonlySet<BinaryFunction> = new Set([
  "equal",
  "less",
  "less-or-equal",
  "greater",
  "greater-or-equal",
  "and",
  "or",
  "xor",
]);

type Types = readonly TensorType[];

export function inferBinary({ function: name }: OperationOf<"binary">, inputs: Types): Types {
  const [one, other] = operands(inputs, "a", "b");
  checkSameDataType(inputs);
  return [{ dataType: givesBool.has(name) ? "bool" : one.dataType, shape: broadcastShape(one.shape, other.shape) }];
}

export function inferSelect(_: OperationOf<"select">, inputs: Types): Types {
  const [condition, then, otherwise] = operands(inputs, "condition", "then", "else");
  if (condition.dataType !== "bool") throw new Error(`its condition is ${describeType(condition)}`);
  checkSameDataType([then, otherwise]);
  return [{ dataType: then.dataType, shape: broadcastShape(condition.shape, then.shape, otherwise.shape) }];
}

export function inferReduce({ axes, keep }: OperationOf<"reduce">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  for (const axis of axes) checkAxis(axis, x);
  const shape = x.shape.flatMap((size, axis) => (axes.includes(axis) ? (keep ? [1] : []) : [size]));
  return [{ dataType: x.dataType, shape }];
}

export function inferArg({ axis }: OperationOf<"arg">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  if (x.shape[axis] === 0) throw new Error("an empty axis has no largest element");
  return [{ dataType: "int64", shape: x.shape.with(axis, 1) }];
}

export function inferCumulative({ axis }: OperationOf<"cumulative">, inputs: Types): Types {
  return sameAsInput(axis, inputs);
}

function sameAsInput(axis: number, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  return [x];
}

export function inferSoftmax({ axis }: OperationOf<"softmax">, [x, mask]: Types): Types {
  if (x === undefined) throw new Error("it takes x and perhaps a mask");
  checkAxis(axis, x);
  if (mask !== undefined && !sameShape(broadcastShape(x.shape, mask.shape), x.shape)) {
    throw new Error(`its mask ${describeType(mask)} does not fit ${describeType(x)}`);
  }
  return [x];
}

export function inferLayerNorm({ axis }: OperationOf<"layer-norm">, inputs: Types): Types {
  const [x, ...others] = inputs;
  if (x === undefined || others.length > 2) throw new Error("it takes x, a scale and a shift");
  checkAxis(axis, x);
  for (const other of others) {
    if (broadcastShape(other.shape, x.shape).length !== x.shape.length)
      throw new Error(`${describeType(other)} does not fit ${describeType(x)}`);
  }
  return [x];
}

export function inferTopK({ axis, count }: OperationOf<"top-k">, inputs: Types): Types {
  const [x] = operands(inputs, "x");
  checkAxis(axis, x);
  if (!(count >= 0 && count <= (x.shape[axis] ?? 0))) throw new Error(`it wants ${count} of ${x.shape[axis]}`);
  const shape = x.shape.with(axis, count);
  return [
    { dataType: x.dataType, shape },
    { dataType: "int64", shape },
  ];
}
