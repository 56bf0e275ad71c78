/** Buckets of free dimensions: inputs are padded with zeros to few sizes, so that few graphs are compiled, and outputs are cut. */
import { invalidInput } from "../../contract/errors.ts";
import { at } from "../../contract/checked.ts";
import { elementCount, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import { bucketSize } from "../../backends/xla/buckets.ts";
import { freeDimensions, type Program } from "../definition/program.ts";
import type { Sizes } from "../definition/trace-program.ts";

/** Sizes in ascending order, by the name of a free dimension. Beyond the last one: twice, four times, ... the last one. */
export type DimensionBuckets = Readonly<Record<string, readonly number[]>>;

/** Throws INPUT_INVALID for a dimension that the program does not have, and for lists that are not of ascending whole numbers above 0. */
export function checkBuckets(program: Pick<Program, "inputs">, buckets: DimensionBuckets): void {
  const names = freeDimensions(program);
  for (const [name, sizes] of Object.entries(buckets)) {
    if (!names.includes(name))
      throw invalidInput(
        `buckets.${name} names no free dimension of the program`,
        `its free dimensions: ${names.join(", ") || "none"}`,
      );
    const isAscending =
      Array.isArray(sizes) &&
      sizes.length > 0 &&
      sizes.every((size, index) => Number.isSafeInteger(size) && size > (index === 0 ? 0 : at(sizes, index - 1)));
    if (!isAscending)
      throw invalidInput(`buckets.${name} is ${JSON.stringify(sizes)}, and must be a list of ascending whole numbers above 0`);
  }
}

/** The sizes of the free dimensions of a run. The inputs are checked. */
export function readSizes(inputs: readonly TensorInfo[], given: TensorMap): Sizes {
  const sizes = new Map<string, number>();
  for (const { name, shape } of inputs)
    for (const [axis, size] of shape.entries()) if (typeof size === "string") sizes.set(size, given[name]?.shape[axis] ?? 0);
  return sizes;
}

/** The sizes that inputs of these sizes are padded to. Nothing is padded from 0. */
export function paddedSizes(sizes: Sizes, buckets: DimensionBuckets): Sizes {
  return new Map(
    [...sizes].map(([name, size]) => {
      const list = buckets[name];
      return [name, list === undefined || size === 0 ? size : bucketSize(size, list)];
    }),
  );
}

/** The first part of a tensor, or the tensor followed by zeros, along each axis. The tensor itself if it has the shape. */
export function fitted(tensor: Tensor, shape: readonly number[]): Tensor {
  if (shape.every((size, axis) => size === tensor.shape[axis])) return tensor;
  const result = zeros(tensor.dataType, shape);
  const [from, to] = [tensor.data as Float32Array, result.data as Float32Array];
  const copy = (axis: number, source: number, target: number): void => {
    if (axis === shape.length) {
      to[target] = from[source] ?? 0;
      return;
    }
    const shared = Math.min(at(tensor.shape, axis), at(shape, axis));
    const [inner, outer] = [elementCount(tensor.shape.slice(axis + 1)), elementCount(shape.slice(axis + 1))];
    if (axis === shape.length - 1) to.set(from.subarray(source, source + shared), target);
    else for (let index = 0; index < shared; index += 1) copy(axis + 1, source + index * inner, target + index * outer);
  };
  copy(0, 0, 0);
  return result;
}
