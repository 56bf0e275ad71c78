/** Loads elements of index tensors and normalizes negative indices. */
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, i64 } from "../../assembler/scalar.ts";
import { offsetBy } from "../loops/addressing.ts";

/** Element type of a tensor of indices: int32 or int64. */
export type IndexType = "int32" | "int64";

/** Status that a kernel returns if an index is out of range. The output elements of that index are not written. */
export const indexOutOfRange = 1;

/**
 * Generates code that loads the index at position `place` of the tensor at address `index` and adds `size` to it if it is negative. Returns the index as
 * an unsigned number, which is out of range if it is not below `size`.
 */
export function loadIndex(f: FunctionBuilder, index: I32, place: I32, size: I32, type: IndexType): Local<"i32"> {
  const row = f.local("i32");
  if (type === "int32") {
    f.set(row, i32.load(offsetBy(index, place, 4)));
  } else {
    const wide = f.value(i64.load(offsetBy(index, place, 8)));
    f.set(row, i32.wrap(wide));
    f.when(i64.ne(i64.extendI32S(row), wide), () => f.set(row, i32.const(-(2 ** 31)))); // an index beyond 32 bits is out of range, also after `size` is added
  }
  f.when(i32.ltS(row, i32.const(0)), () => f.increase(row, size));
  return row;
}
