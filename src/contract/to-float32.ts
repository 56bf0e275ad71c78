/** Conversion of whole tensors to float32. */
import { unsupportedModel } from "./errors.ts";
import type { Tensor } from "./tensor.ts";
import { decodeFloats } from "./small-floats.ts";

/**
 * The elements of a floating-point tensor as a Float32Array in the same order; float64 elements are rounded. A float32 tensor's
 * own array is returned, not a copy. Throws MODEL_UNSUPPORTED for integers, booleans and strings.
 */
export function toFloat32(tensor: Tensor): Float32Array {
  const { data, dataType } = tensor;
  if (data instanceof Float32Array) return data;
  if (data instanceof Float64Array) return Float32Array.from(data);
  if (data instanceof Uint16Array && (dataType === "float16" || dataType === "bfloat16")) return decodeFloats(dataType, data);
  throw unsupportedModel(`the model gives ${dataType}, which is not a floating-point type`);
}
