/** Address arithmetic in generated code. */
import { at } from "../../../../../contract/checked.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32, selectValue } from "../../assembler/scalar.ts";

/** A size in generated code: a number that is compiled into the code, or an expression that is evaluated at run time. */
export type Size = number | I32;

/** A size as an i32 expression: a constant size becomes a constant, an expression stays. */
export function sizeValue(size: Size): I32 {
  return typeof size === "number" ? i32.const(size) : size;
}

/** A size times a constant factor. A constant size is multiplied at once. */
export function scaleSize(size: Size, factor: number): Size {
  return typeof size === "number" ? size * factor : i32.mul(size, i32.const(factor));
}

/** Generates the smaller of two signed 32-bit integers. Both expressions are emitted twice. */
export function minimum(a: I32, b: I32): I32 {
  return selectValue(i32.ltS(a, b), a, b);
}

/** Generates the larger of two signed 32-bit integers. Both expressions are emitted twice. */
export function maximum(a: I32, b: I32): I32 {
  return selectValue(i32.gtS(a, b), a, b);
}

/** Generates the address base + index * bytes. */
export function offsetBy(base: I32, index: I32, bytes: Size): I32 {
  if (bytes === 0) return base;
  return i32.add(base, bytes === 1 ? index : i32.mul(index, sizeValue(bytes)));
}

/** Converts the row-major index `place` to coordinates in `shape`, one per axis (NumPy unravel_index). */
export function unravel(f: FunctionBuilder, place: I32, shape: readonly Size[]): Local<"i32">[] {
  const coordinates: Local<"i32">[] = [];
  let rest = f.value(place);
  for (const size of shape.slice(1).reverse()) {
    const next = f.value(i32.divU(rest, sizeValue(size)));
    coordinates.unshift(f.value(i32.sub(rest, i32.mul(next, sizeValue(size)))));
    rest = next;
  }
  return shape.length === 0 ? [] : [rest, ...coordinates];
}

/**
 * Generates the address of an element: base plus the sum of coordinate * stride over all axes. Strides are in bytes, one per coordinate; a missing
 * one throws RangeError.
 */
export function addressAt(base: I32, coordinates: readonly I32[], strides: readonly Size[]): I32 {
  return coordinates.reduce<I32>((sum, coordinate, axis) => offsetBy(sum, coordinate, at(strides, axis)), base);
}

/** The product of the sizes; 1 for an empty list. */
export function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}
