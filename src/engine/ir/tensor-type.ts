/** Types of tensors: their elements and their shape. */
import { elementCount } from "../../contract/tensor.ts";
import { type ElementType, elementTypes } from "./element-types.ts";

/** Element type and shape of a tensor. */
export interface TensorType {
  readonly dataType: ElementType;
  readonly shape: readonly number[];
}

/** Bytes of a tensor of this type, elements below a byte packed; 0 for strings. */
export function byteSize({ dataType, shape }: TensorType): number {
  return Math.ceil((elementCount(shape) * elementTypes[dataType].bits) / 8);
}

/** The type as written in messages and in the text form: "float32[2,3]". */
export function describeType({ dataType, shape }: TensorType): string {
  return `${dataType}[${shape.join(",")}]`;
}

/** Whether two shapes are equal axis by axis. */
export function sameShape(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((size, axis) => size === other[axis]);
}
