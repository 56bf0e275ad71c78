/** Shape inference of operations that read or write elements at indices given by an input. */
import { describeType, sameShape, type TensorType } from "../tensor-type.ts";
import type { OperationOf } from "../operations.ts";
import { checkAxis, operands } from "./operands.ts";

type Types = readonly TensorType[];

/** Output type of `gather`: the shape of the data with the axis replaced by the shape of the indices. */
export function inferGather({ axis }: OperationOf<"gather">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkAxis(axis, data);
  checkIndices(indices);
  return [{ dataType: data.dataType, shape: [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)] }];
}

/** Output type of `gather-elements`: the shape of the indices, the element type of the data. Throws Error unless both have the same rank. */
export function inferGatherElements({ axis }: OperationOf<"gather-elements">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkAxis(axis, data);
  checkIndices(indices);
  if (indices.shape.length !== data.shape.length)
    throw new Error(`the indices ${describeType(indices)} and the data ${describeType(data)} have different ranks`);
  return [{ dataType: data.dataType, shape: indices.shape }];
}

/** Output type of `gather-nd`: the shape of the indices without their last axis, then the axes of the data that the indices do not address. */
export function inferGatherNd({ batchAxes }: OperationOf<"gather-nd">, inputs: Types): Types {
  const [data, indices] = operands(inputs, "data", "indices");
  checkIndices(indices);
  const depth = indices.shape.at(-1);
  if (depth === undefined || batchAxes + depth > data.shape.length || batchAxes >= indices.shape.length) {
    throw new Error(
      `the indices ${describeType(indices)} have too many coordinates or batch axes for the data ${describeType(data)}`,
    );
  }
  if (!sameShape(data.shape.slice(0, batchAxes), indices.shape.slice(0, batchAxes)))
    throw new Error(`the first ${batchAxes} axes of ${describeType(data)} and ${describeType(indices)} differ`);
  return [{ dataType: data.dataType, shape: [...indices.shape.slice(0, -1), ...data.shape.slice(batchAxes + depth)] }];
}

/**
 * Output type of `scatter-elements` and `scatter-nd`: the type of the data. Throws Error if the updates have another element type or the indices are not
 * integers.
 */
export function inferScatter(inputs: Types): Types {
  const [data, indices, updates] = operands(inputs, "data", "indices", "updates");
  checkIndices(indices);
  if (data.dataType !== updates.dataType)
    throw new Error(`the data ${describeType(data)} and the updates ${describeType(updates)} have different element types`);
  return [data];
}

function checkIndices(indices: TensorType): void {
  if (indices.dataType !== "int64" && indices.dataType !== "int32")
    throw new Error(`the indices are ${describeType(indices)}, and must be int32 or int64`);
}
