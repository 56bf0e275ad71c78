/** Walking along a row of float32 (or int32) four elements at a time. */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { acrossLanes, v128 } from "../../assembler/vector.ts";
import type { Binary } from "../../assembler/instruction-tables.ts";
import { keepLanes } from "./lanes.ts";
import { indices } from "../matmul/micro-kernel.ts";

const vectorBytes = 16;

/** Elements of a row: a number, or as many whole vectors as the code is told and a rest that it holds. */
export type RowLength = number | { readonly vectors: I32; readonly rest: number };

/**
 * The body for every vector of a row; `lanes` is 4 but for the last, which may be shorter. `offset` is in bytes from the row's start.
 * The loop's body is written `ways` times, `way` counting from 0, so that chains of dependent sums can run side by side.
 */
export function forVectors(
  f: FunctionBuilder,
  length: RowLength,
  body: (offset: I32, lanes: number, way: number) => void,
  ways: number = 1,
): void {
  if (typeof length !== "number") {
    forDynamicVectors(f, length, body, ways);
    return;
  }
  const rounds = Math.floor(length / (4 * ways));
  if (rounds > 0) {
    const offset = f.value(i32.const(0));
    f.doWhile(
      () => {
        for (const way of indices(ways)) body(way === 0 ? offset : i32.add(offset, i32.const(way * vectorBytes)), 4, way);
        f.increase(offset, ways * vectorBytes);
      },
      () => i32.ne(offset, i32.const(rounds * ways * vectorBytes)),
    );
  }
  for (let first = rounds * ways * 4, way = 0; first < length; first += 4, way += 1)
    body(i32.const(first * 4), Math.min(4, length - first), way);
}

/** What does not fill a round of all ways is left to the first. */
function forDynamicVectors(
  f: FunctionBuilder,
  { vectors, rest }: Exclude<RowLength, number>,
  body: (offset: I32, lanes: number, way: number) => void,
  ways: number,
): void {
  const offset = f.value(i32.const(0));
  const end = f.value(i32.mul(vectors, i32.const(vectorBytes)));
  const upTo = (last: I32, written: number): void =>
    f.while(
      () => i32.ltU(offset, last),
      () => {
        for (const way of indices(written)) body(way === 0 ? offset : i32.add(offset, i32.const(way * vectorBytes)), 4, way);
        f.increase(offset, written * vectorBytes);
      },
    );
  if (ways > 1) upTo(f.value(i32.mul(i32.divU(end, i32.const(ways * vectorBytes)), i32.const(ways * vectorBytes))), ways);
  upTo(end, 1);
  if (rest > 0) body(offset, rest, 0);
}

/** How a reduction combines: on four lanes, starting from `identity`, which lanes behind the row's end are replaced by. */
export interface Reducer {
  readonly combine: Binary<"v128">;
  readonly identity: V128;
}

/**
 * Combines what `element` makes of each vector of a row; the result is in every lane. Cheap elements are combined in four sums at a time,
 * costly ones keep the machine busy with one.
 */
export function reduceRow(
  f: FunctionBuilder,
  length: RowLength,
  { combine, identity }: Reducer,
  element: (offset: I32, lanes: number) => V128,
  cost: "cheap" | "costly" = "cheap",
): Local<"v128"> {
  const ways = cost === "cheap" && (typeof length !== "number" || length >= 32) ? 4 : 1;
  const totals = indices(ways).map(() => f.value(identity));
  const body = (offset: I32, lanes: number, way: number): void => {
    const total = totals[way];
    if (total !== undefined) f.set(total, combine(total, keepLanes(element(offset, lanes), identity, lanes)));
  };
  forVectors(f, length, body, ways);
  const sum = f.value(totals.slice(1).reduce<V128>((all, total) => combine(all, total), totals[0] ?? identity));
  return f.value(acrossLanes(sum, combine));
}

export function loadVector(base: I32, offset: I32): V128 {
  return v128.load(i32.add(base, offset));
}
