/** Inputs of a decoder that hold the keys and values of tokens it has read, by the names that exporters give them: `past_key_values.0.key`, `past_0`. */
import type { TensorInfo } from "../../contract/tensor.ts";

/** Whether an input is part of a key-value cache. */
export function isCacheInput({ name, dataType }: Pick<TensorInfo, "name" | "dataType">): boolean {
  return name.startsWith("past") && dataType.includes("float");
}

/** Shape of such an input before any token was read: its first free axis has `rows` elements, since that is the batch, and the others none. */
export function emptyCacheShape({ shape }: Pick<TensorInfo, "shape">, rows: number): readonly number[] {
  const batchAxis = shape.findIndex((size) => typeof size !== "number");
  return shape.map((size, axis) => (typeof size === "number" ? size : axis === batchAxis ? rows : 0));
}
