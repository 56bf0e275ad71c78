/** Loads indices that are known at run time and normalizes negative ones. */
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, i64 } from "../../assembler/scalar.ts";
import { offsetBy } from "../loops/addressing.ts";

/** Element type of a tensor of indices. */
export type IndexType = "int32" | "int64";

/** Status of a call that found an index outside of its axis. The output of that index is left unchanged. */
export const indexOutOfRange = 1;

/** The index at a position, as an unsigned number: negative indices count from the end; any result of `size` or more is out of range. */
export function loadIndex(f: FunctionBuilder, index: I32, place: I32, size: I32, type: IndexType): Local<"i32"> {
  const row = f.local("i32");
  if (type === "int32") {
    f.set(row, i32.load(offsetBy(index, place, 4)));
  } else {
    const wide = f.value(i64.load(offsetBy(index, place, 8)));
    f.set(row, i32.wrap(wide));
    f.when(i64.ne(i64.extendI32S(row), wide), () => f.set(row, i32.const(-(2 ** 31)))); // far out of range, and stays so
  }
  f.when(i32.ltS(row, i32.const(0)), () => f.increase(row, size));
  return row;
}
