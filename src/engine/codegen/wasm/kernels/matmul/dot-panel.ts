/**
 * Dot products of few rows with contiguous columns, such as the scores of a single query. Sums run along k in vectors, four columns at a time. Copying
 * the columns for the micro-kernel would cost more than the product.
 */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { floatBytes, laneCount, keepLanes } from "../loops/lanes.ts";
import { transposed } from "./panel-copy.ts";

/** One row of A and up to 4 columns of B, all contiguous along k, whose dot products are computed. */
export interface DotPanel {
  /** Number of products per sum: k. */
  readonly depth: number;
  /** Number of columns: 1 to 4. */
  readonly columns: number;
  /** Address of the first element of the row. */
  readonly a: I32;
  /** Address of the first element of the first column. */
  readonly b: I32;
  /** Distance in elements between neighbouring columns. */
  readonly columnStride: number;
}

/** Generates code for the dot products of one row with up to four columns. Returns one sum per lane; other lanes are undefined. */
export function dotPanel(f: FunctionBuilder, { depth, columns, a: row, b: column, columnStride }: DotPanel): Local<"v128"> {
  const sums = f.locals("v128", laneCount);
  for (const sum of sums) f.set(sum, v128.zero); // locals keep the sums of the previous panel
  const a = f.value(row);
  const b = f.value(column);
  const add = (lanes: number): void => {
    const factor = f.value(keepLanes(v128.load(a), v128.zero, lanes));
    sums.slice(0, columns).forEach((sum, index) => {
      const values = keepLanes(v128.load(b, index * columnStride * floatBytes), v128.zero, lanes);
      f.set(sum, f.madd(factor, values, sum));
    });
  };
  const whole = Math.floor(depth / laneCount);
  if (whole > 0) {
    const end = f.value(i32.add(a, i32.const(whole * laneCount * floatBytes)));
    f.doWhile(
      () => {
        add(laneCount);
        f.increase(a, laneCount * floatBytes);
        f.increase(b, laneCount * floatBytes);
      },
      () => i32.ne(a, end),
    );
  }
  if (depth % laneCount > 0) add(depth % laneCount);
  const [first, ...others] = transposed(f, sums);
  return f.value(others.reduce<V128>((all, lane) => f32x4.add(all, lane), first ?? v128.zero));
}
