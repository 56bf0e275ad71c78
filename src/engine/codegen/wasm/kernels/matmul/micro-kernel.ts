/**
 * The inner loop of every product: a tile of C, at most 4 rows by 8 columns, kept in registers while k runs.
 *
 * V8 has 15 vector registers and loads all of a block's operands before it computes, so rows * vectors + vectors + rows must not exceed 15:
 * that, and not unrolling k by hand, is what makes the loop reach 94 % of the machine's multiply-add peak.
 */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { type Size, sizeValue, scaleSize } from "../loops/addressing.ts";

export const tileRows = 4;
/** Columns of a tile, and of a panel of packed weights. */
export const tileColumns = 8;
export const laneCount = 4;
export const floatBytes = 4;

/** How a tile multiplies: float32, or pairs of 16-bit integers. */
export interface TileArithmetic {
  /** Four columns of B. */
  loadColumns(b: I32, offset: number): V128;
  /** sum + factor * columns */
  accumulate(f: FunctionBuilder, factor: V128, columns: V128, sum: V128): V128;
}

const floatArithmetic: TileArithmetic = {
  loadColumns: (b, offset) => v128.load(b, offset),
  accumulate: (f, factor, columns, sum) => f.madd(factor, columns, sum),
};

export interface Tile {
  readonly rows: number;
  /** Vectors of four columns. */
  readonly vectors: number;
  /** Above 0 where it is told. */
  readonly depth: Size;
  /** Where A's first row and B's first k begin. */
  readonly a: I32;
  readonly b: I32;
  /** Bytes from one row of A to the next, and from one k to the next. */
  readonly aRowBytes: Size;
  readonly aDepthBytes: number;
  /** Above 0. */
  readonly bDepthBytes: number;
  /** Bytes from B's first column at some k to those of each vector; one after the other where absent. */
  readonly bVectorBytes?: (vector: number) => number;
  /** float32 where absent. */
  readonly arithmetic?: TileArithmetic;
  /** The first sums. */
  start(row: number, vector: number): V128;
}

/** Writes the loop; the sums are at [row][vector] of what it gives back. */
export function emitMicroKernel(f: FunctionBuilder, tile: Tile): Local<"v128">[][] {
  const {
    rows,
    vectors,
    depth,
    arithmetic = floatArithmetic,
    bVectorBytes = (vector: number) => vector * laneCount * floatBytes,
  } = tile;
  const sums = indices(rows).map((row) => indices(vectors).map((vector) => f.value(tile.start(row, vector))));
  if (depth === 0) return sums;
  const b = f.value(tile.b);
  const a = f.value(tile.a);
  const end = f.value(i32.add(b, sizeValue(scaleSize(depth, tile.bDepthBytes)))); // not a's: its step may be 0
  const factorOf = rowFactors(f, a, tile);
  const columns = rows === 1 ? [] : f.locals("v128", vectors); // one row uses them once
  const factor = f.local("v128");
  f.doWhile(
    () => {
      const load = (vector: number): V128 => arithmetic.loadColumns(b, bVectorBytes(vector));
      columns.forEach((column, vector) => f.set(column, load(vector)));
      sums.forEach((row, index) => {
        f.set(factor, factorOf(index));
        row.forEach((sum, vector) => f.set(sum, arithmetic.accumulate(f, factor, columns[vector] ?? load(vector), sum)));
      });
      f.increase(b, tile.bDepthBytes);
      f.increase(a, tile.aDepthBytes);
    },
    () => i32.ne(b, end),
  );
  return sums;
}

/** How a row's factor is loaded: rows that lie apart by a number are reached by the instruction itself. */
function rowFactors(f: FunctionBuilder, a: Local<"i32">, { rows, aRowBytes }: Tile): (row: number) => V128 {
  if (typeof aRowBytes === "number") return (row) => v128.load32Splat(a, row * aRowBytes);
  const offsets = indices(rows).map((row) => f.value(i32.mul(aRowBytes, i32.const(row))));
  return (row) => v128.load32Splat(row === 0 ? a : i32.add(a, offsets[row] ?? a));
}

export function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
