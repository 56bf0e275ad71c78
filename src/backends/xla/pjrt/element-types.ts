/** Element types as `PJRT_Buffer_Type` numbers them. */
import type { ElementType } from "../../../engine/ir/element-types.ts";

/** Numbers of the element types that tensors of a device can have; string and the types below a byte are missing. */
export const bufferTypes: Readonly<Partial<Record<ElementType, number>>> = {
  bool: 1,
  int8: 2,
  int16: 3,
  int32: 4,
  int64: 5,
  uint8: 6,
  uint16: 7,
  uint32: 8,
  uint64: 9,
  float16: 10,
  float32: 11,
  float64: 12,
  bfloat16: 13,
  float8e5m2: 16,
  float8e4m3fn: 17,
  float8e5m2fnuz: 19,
  float8e4m3fnuz: 20,
};
