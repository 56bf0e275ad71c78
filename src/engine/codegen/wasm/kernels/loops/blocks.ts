/** Divides a range into equal blocks, the last of which may be shorter, and generates code for each block length that occurs. */
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { type Size, sizeValue } from "./addressing.ts";

/** A range of indices that a loop runs over in blocks. */
export interface BlockRange {
  /** Index of the current block. */
  readonly block: I32;
  /** Number of blocks. */
  readonly blocks: Size;
  /** Length of the whole range, in elements or bytes. */
  readonly size: number;
  /** Length of every block except the last one, in the unit of `size`. */
  readonly width: number;
}

/** Calls `emit` once for each block length that occurs: `width`, the remainder, or both after a branch on the last block. */
export function emitBlock(f: FunctionBuilder, { block, blocks, size, width }: BlockRange, emit: (length: number) => void): void {
  const rest = size % width;
  if (rest === 0) emit(width);
  else if (size < width) emit(rest);
  else
    f.when(
      i32.ne(block, i32.sub(sizeValue(blocks), i32.const(1))),
      () => emit(width),
      () => emit(rest),
    );
}
