/** Integer arithmetic on places in tensors. */
import type { I32, Local } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32, select } from "../assembler/scalar.ts";

export function lesser(a: I32, b: I32): I32 {
  return select(i32.ltS(a, b), a, b);
}

export function greater(a: I32, b: I32): I32 {
  return select(i32.gtS(a, b), a, b);
}

/** base + index * bytes */
export function advanced(base: I32, index: I32, bytes: number): I32 {
  if (bytes === 0) return base;
  return i32.add(base, bytes === 1 ? index : i32.mul(index, i32.const(bytes)));
}

/** The coordinates of a row-major place in a shape. */
export function unravel(f: FunctionBuilder, place: I32, shape: readonly number[]): Local<"i32">[] {
  const coordinates: Local<"i32">[] = [];
  let rest = f.value(place);
  for (const size of shape.slice(1).reverse()) {
    const next = f.value(i32.divU(rest, i32.const(size)));
    coordinates.unshift(f.value(i32.sub(rest, i32.mul(next, i32.const(size)))));
    rest = next;
  }
  return shape.length === 0 ? [] : [rest, ...coordinates];
}

/** base + the coordinates times their strides in bytes */
export function placed(base: I32, coordinates: readonly I32[], strides: readonly number[]): I32 {
  return coordinates.reduce<I32>((sum, coordinate, axis) => advanced(sum, coordinate, strides[axis] ?? 0), base);
}

export function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}
