/** Loops over rows of float32 or int32, four elements at a time. */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { acrossLanes, v128 } from "../../assembler/vector.ts";
import type { BinaryInstruction } from "../../assembler/instruction-tables.ts";
import { indices, keepLanes, vectorBytes } from "./lanes.ts";

/** Length of a row in elements: a constant, or a number of whole vectors known at run time and a constant remainder. */
export type RowLength = number | { readonly vectors: I32; readonly rest: number };

/**
 * Generates `body` for every vector of a row. `lanes` is 4 except for the last vector, which may be shorter; `offset` is in bytes from the start of the
 * row. The loop is unrolled `unroll` times, `copy` counting from 0, so that dependent operations can overlap.
 */
export function forVectors(
  f: FunctionBuilder,
  length: RowLength,
  body: (offset: I32, lanes: number, copy: number) => void,
  unroll: number = 1,
): void {
  if (typeof length !== "number") {
    forDynamicVectors(f, length, body, unroll);
    return;
  }
  const rounds = Math.floor(length / (4 * unroll));
  if (rounds > 0) {
    const offset = f.value(i32.const(0));
    f.doWhile(
      () => {
        for (const copy of indices(unroll)) body(copy === 0 ? offset : i32.add(offset, i32.const(copy * vectorBytes)), 4, copy);
        f.increase(offset, unroll * vectorBytes);
      },
      () => i32.ne(offset, i32.const(rounds * unroll * vectorBytes)),
    );
  }
  for (let first = rounds * unroll * 4, copy = 0; first < length; first += 4, copy += 1)
    body(i32.const(first * 4), Math.min(4, length - first), copy);
}

/** Implements `forVectors` for lengths that are known at run time. Vectors that do not fill an unrolled iteration are passed `copy` 0. */
function forDynamicVectors(
  f: FunctionBuilder,
  { vectors, rest }: Exclude<RowLength, number>,
  body: (offset: I32, lanes: number, copy: number) => void,
  unroll: number,
): void {
  const offset = f.value(i32.const(0));
  const end = f.value(i32.mul(vectors, i32.const(vectorBytes)));
  const upTo = (last: I32, written: number): void =>
    f.while(
      () => i32.ltU(offset, last),
      () => {
        for (const copy of indices(written)) body(copy === 0 ? offset : i32.add(offset, i32.const(copy * vectorBytes)), 4, copy);
        f.increase(offset, written * vectorBytes);
      },
    );
  if (unroll > 1) upTo(f.value(i32.mul(i32.divU(end, i32.const(unroll * vectorBytes)), i32.const(unroll * vectorBytes))), unroll);
  upTo(end, 1);
  if (rest > 0) body(offset, rest, 0);
}

/** A reduction: the operation that combines two vectors, and its identity element, which replaces lanes past the end of the row. */
export interface Reducer {
  readonly combine: BinaryInstruction<"v128">;
  readonly identity: V128;
}

/**
 * Reduces the vectors that `element` returns for a row to one value, which is in every lane of the result. `offset` is in bytes from the start of the
 * row. With cost "cheap" the loop has four independent accumulators, which hides the latency of `combine`; with "costly" it has one.
 */
export function reduceRow(
  f: FunctionBuilder,
  length: RowLength,
  { combine, identity }: Reducer,
  element: (offset: I32, lanes: number) => V128,
  cost: "cheap" | "costly" = "cheap",
): Local<"v128"> {
  const unroll = cost === "cheap" && (typeof length !== "number" || length >= 32) ? 4 : 1;
  const totals = indices(unroll).map(() => f.value(identity));
  const body = (offset: I32, lanes: number, copy: number): void => {
    const total = totals[copy];
    if (total !== undefined) f.set(total, combine(total, keepLanes(element(offset, lanes), identity, lanes)));
  };
  forVectors(f, length, body, unroll);
  const sum = f.value(totals.slice(1).reduce<V128>((all, total) => combine(all, total), totals[0] ?? identity));
  return f.value(acrossLanes(sum, combine));
}

/** Loads four 32-bit elements from address `base` + `offset`, both in bytes. */
export function loadVector(base: I32, offset: I32): V128 {
  return v128.load(i32.add(base, offset));
}
