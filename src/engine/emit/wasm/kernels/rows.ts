/** Walking along a row of float32 (or int32) four elements at a time. */
import type { I32, Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { acrossLanes, v128 } from "../assembler/vector.ts";
import type { Binary } from "../assembler/instruction-tables.ts";
import { firstLanes } from "./lanes.ts";

const vectorBytes = 16;

/** The body for every vector of a row; `lanes` is 4 but for the last, which may be shorter. `offset` is in bytes from the row's start. */
export function forVectors(f: FunctionBuilder, length: number, body: (offset: I32, lanes: number) => void): void {
  const whole = Math.floor(length / 4);
  if (whole > 0) {
    const offset = f.value(i32.const(0));
    f.doWhile(
      () => {
        body(offset, 4);
        f.increase(offset, vectorBytes);
      },
      () => i32.ne(offset, i32.const(whole * vectorBytes)),
    );
  }
  if (length % 4 > 0) body(i32.const(whole * vectorBytes), length % 4);
}

/** How a reduction combines: on four lanes, starting from `identity`, which lanes behind the row's end are replaced by. */
export interface Combining {
  readonly combine: Binary<"v128">;
  readonly identity: V128;
}

/** Combines what `element` makes of each vector of a row; the result is in every lane. */
export function reduceRow(
  f: FunctionBuilder,
  length: number,
  { combine, identity }: Combining,
  element: (offset: I32, lanes: number) => V128,
): Local<"v128"> {
  const total = f.value(identity);
  forVectors(f, length, (offset, lanes) => {
    f.set(total, combine(total, firstLanes(element(offset, lanes), identity, lanes)));
  });
  f.set(total, acrossLanes(total, combine));
  return total;
}

export function loadAt(base: I32, offset: I32): V128 {
  return v128.load(i32.add(base, offset));
}
