/**
 * One row times a panel of packed weights. Memory is what it waits for: every weight is used once, so the panel is read from its first byte to
 * its last, and neighbouring k have sums of their own that need not wait for each other.
 */
import type { I32, Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { floatBytes, indices, laneCount, tileColumns } from "./matmul-tile.ts";

/** Sums, columns and factors of one round fill the 15 registers that V8 has for vectors; 3 read 768 x 3072 weights 8 to 14 % faster than three panels at once did. */
const ways = 3;

export interface RowProduct {
  /** Vectors of four columns: 1 or 2. */
  readonly vectors: number;
  readonly depth: number;
  readonly a: I32;
  /** The panel's first byte. */
  readonly b: I32;
  start(vector: number): V128;
}

/** The sums of each vector of columns. */
export function multiplyRow(f: FunctionBuilder, { vectors, depth, a: row, b: panel, start }: RowProduct): Local<"v128">[] {
  const sums = indices(ways).map((way) => indices(vectors).map((vector) => f.value(way === 0 ? start(vector) : v128.zero)));
  const a = f.value(row);
  const b = f.value(panel);
  const add = (count: number): void => {
    for (const way of indices(count)) {
      const factor = f.value(v128.load32Splat(a, way * floatBytes));
      sums[way]?.forEach((sum, vector) => {
        const columns = v128.load(b, (way * tileColumns + vector * laneCount) * floatBytes);
        f.set(sum, f.madd(factor, columns, sum));
      });
    }
    f.increase(a, count * floatBytes);
    f.increase(b, count * tileColumns * floatBytes);
  };
  const rounds = Math.floor(depth / ways);
  if (rounds > 0) {
    const end = f.value(i32.add(a, i32.const(rounds * ways * floatBytes)));
    f.doWhile(
      () => add(ways),
      () => i32.ne(a, end),
    );
  }
  if (depth % ways > 0) add(depth % ways);
  const [first = [], ...others] = sums;
  return first.map((sum, vector) => f.value(others.reduce<V128>((all, way) => f32x4.add(all, way[vector] ?? sum), sum)));
}
