/**
 * The micro-kernel of all matrix products: a tile of C of at most 4 rows by 8 columns, kept in registers while k runs.
 *
 * V8 uses 15 vector registers and loads all operands of a basic block before it computes, so rows * vectors + vectors + rows must not exceed 15. Within
 * that limit the loop reaches 94 % of the machine's multiply-add peak without manual unrolling of k.
 */
import { at } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { i32x4, v128 } from "../../assembler/vector.ts";
import { type Size, sizeValue, scaleSize } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount } from "../loops/lanes.ts";

/** Maximum number of rows of a tile, the part of C that is kept in registers. */
export const tileRows = 4;
/** Columns of a tile and of a panel of packed weights. */
export const tileColumns = 8;

/** How a tile loads and accumulates its elements: as float32, as int32, or as pairs of 16-bit integers. */
export interface TileArithmetic {
  /** Loads four columns of B. */
  loadColumns(b: I32, offset: number): V128;
  /** Returns sum + factor * columns. */
  accumulate(f: FunctionBuilder, factor: V128, columns: V128, sum: V128): V128;
}

const floatArithmetic: TileArithmetic = {
  loadColumns: (b, offset) => v128.load(b, offset),
  accumulate: (f, factor, columns, sum) => f.madd(factor, columns, sum),
};

/** int32 arithmetic of a tile. Products and sums wrap around at 32 bits. */
export const int32TileArithmetic: TileArithmetic = {
  loadColumns: (b, offset) => v128.load(b, offset),
  accumulate: (_f, factor, columns, sum) => i32x4.add(sum, i32x4.mul(factor, columns)),
};

/** Size, addresses and strides of one tile, the part of the product C that is computed in registers. */
export interface Tile {
  readonly rows: number;
  /** Number of vectors of four columns. */
  readonly vectors: number;
  /** Number of iterations of the loop over k. Must be above 0 if it is an expression. */
  readonly depth: Size;
  /** Address of the tile's first row of A. */
  readonly a: I32;
  readonly b: I32;
  /** Distance in bytes between neighbouring rows of A. */
  readonly aRowBytes: Size;
  /** Distance in bytes between neighbouring k of A. */
  readonly aDepthBytes: number;
  /** Distance in bytes between neighbouring k of B. Must be above 0. */
  readonly bDepthBytes: number;
  /** Byte offset of each vector of columns within B at one k. Default: contiguous. */
  readonly bVectorBytes?: (vector: number) => number;
  /** Arithmetic of the tile. Default: float32. */
  readonly arithmetic?: TileArithmetic;
  /** Returns the initial sum of a row of the tile and a vector of its columns. */
  start(row: number, vector: number): V128;
}

/** Generates the loop over k of one tile. Returns the local variables that hold the sums, as [row][vector]. */
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
  const end = f.value(i32.add(b, sizeValue(scaleSize(depth, tile.bDepthBytes)))); // b ends the loop, because the step of a may be 0
  const factorOf = rowFactors(f, a, tile);
  const columns = rows === 1 ? [] : f.locals("v128", vectors); // with one row they are used once
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

/** Returns the generator of loads of A: one element of a row, copied to all lanes. A constant row stride becomes the offset immediate of the load. */
function rowFactors(f: FunctionBuilder, a: Local<"i32">, { rows, aRowBytes }: Tile): (row: number) => V128 {
  if (typeof aRowBytes === "number") return (row) => v128.load32Splat(a, row * aRowBytes);
  const offsets = indices(rows).map((row) => f.value(i32.mul(aRowBytes, i32.const(row))));
  return (row) => v128.load32Splat(row === 0 ? a : i32.add(a, at(offsets, row)));
}
