/** Sizes of vectors, and operations on partial vectors, which occur at the end of rows whose length is not a multiple of 4. */
import type { I32, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { v128 } from "../../assembler/vector.ts";

/** Bytes of a WebAssembly vector (v128). */
export const vectorBytes = 16;
/** 32-bit lanes of a WebAssembly vector (v128). */
export const laneCount = 4;
/** Bytes of a float32, also used for int32. */
export const floatBytes = 4;

/** The array of the integers from 0 to `count` - 1, such as the numbers of lanes. */
export function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Stores the first `lanes` (1 to 4) 32-bit lanes of `value` at `address` plus `offset` bytes. Writes no byte after them. */
export function storeLanes(f: FunctionBuilder, address: I32, value: V128, lanes: number, offset: number = 0): void {
  if (lanes >= 4) {
    f.run(v128.store(address, value, offset));
    return;
  }
  const kept = f.value(value);
  if (lanes >= 2) f.run(v128.store64Lane(address, kept, 0, offset));
  if (lanes % 2 === 1) f.run(v128.store32Lane(address, kept, lanes - 1, offset + (lanes - 1) * 4));
}

/** A vector with the first `lanes` 32-bit lanes of `value` and the remaining lanes of `other`. */
export function keepLanes(value: V128, other: V128, lanes: number): V128 {
  if (lanes >= 4) return value;
  const mask = v128.const(Array.from({ length: 16 }, (_, byte) => (byte < lanes * 4 ? 0xff : 0)));
  return v128.bitselect(value, other, mask);
}
