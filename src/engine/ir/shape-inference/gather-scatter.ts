/** Operations that take elements from where other inputs say, or put them there. */
import { describeType, sameShape, type TensorType } from "../graph.ts";
import type { OperationOf } from "../operations.ts";
import { checkAxis, operands } from "./operands.ts";

type Types = readonly TensorType[];

export function inferGather({ axis }: OperationOf<"gather">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkAxis(axis, data);
  checkIndices(indices);
  return [{ dataType: data.dataType, shape: [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)] }];
}

export function inferGatherElements({ axis }: OperationOf<"gather-elements">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkAxis(axis, data);
  checkIndices(indices);
  if (indices.shape.length !== data.shape.length)
    throw new Error(`its indices are ${describeType(indices)}, its data ${describeType(data)}`);
  return [{ dataType: data.dataType, shape: indices.shape }];
}

export function inferGatherNd({ batchAxes }: OperationOf<"gather-nd">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkIndices(indices);
  const depth = indices.shape.at(-1);
  if (depth === undefined || batchAxes + depth > data.shape.length || batchAxes >= indices.shape.length) {
    throw new Error(`its indices ${describeType(indices)} do not fit its data ${describeType(data)}`);
  }
  if (!sameShape(data.shape.slice(0, batchAxes), indices.shape.slice(0, batchAxes))) throw new Error("its batch axes differ");
  return [{ dataType: data.dataType, shape: [...indices.shape.slice(0, -1), ...data.shape.slice(batchAxes + depth)] }];
}

export function inferScatter(inputs: Types): Types {
  const [data, indices, updates] = operands(inputs, "data", "indices", "updates");
  checkIndices(indices);
  if (data.dataType !== updates.dataType)
    throw new Error(`its data is ${describeType(data)}, its updates ${describeType(updates)}`);
  return [data];
}

function checkIndices(indices: TensorType): void {
  if (indices.dataType !== "int64" && indices.dataType !== "int32") throw new Error(`its indices are ${describeType(indices)}`);
}
