/** A tile of a float32 product: some rows and panels of columns, whose sums are in registers while k runs. */
import { at } from "../../../../contract/checked.ts";
import type { Memory, Register, Vector } from "../assembler/operands.ts";
import type { FloatCode } from "../float-code.ts";
import { indices } from "../../wasm/kernels/loops/lanes.ts";

/** The operands of a tile. All distances are in bytes. */
export interface FloatTile {
  readonly rows: number;
  /** Vectors of columns of a row. */
  readonly vectors: number;
  /** Number of products per sum. 0 or more. */
  readonly depth: number;
  /** Registers: address of the first row of A and of the first panel of B, which are kept, and three that change. */
  readonly a: Register;
  readonly b: Register;
  readonly aNext: Register;
  readonly bNext: Register;
  readonly counter: Register;
  readonly aRowBytes: number;
  /** From one k to the next. */
  readonly aDepthBytes: number;
  readonly bDepthBytes: number;
  /** Offset of a vector of columns within B at one k. */
  bVectorBytes(vector: number): number;
  /** Emits the initial sum of a row and a vector of columns. */
  start(to: Vector, row: number, vector: number): void;
}

/** Instructions of one pass through the loop, about: more k are unrolled for small tiles. */
const loopProducts = 48;
const maxUnrolled = 8;

/**
 * Emits the sums of a tile, and calls `use` with their registers, as [row][vector]; the other registers are free then. Each sum adds its products in the order of
 * k, so that a row gets the same bits in every tile.
 */
export function emitFloatTile(code: FloatCode, tile: FloatTile, use: (sums: readonly (readonly Vector[])[]) => void): void {
  const { asm, vectors } = code;
  const { rows, vectors: width, depth, a, b, aNext, bNext, counter } = tile;
  const sums = indices(rows).map(() => vectors.takeAll(width));
  sums.forEach((row, r) => row.forEach((sum, v) => tile.start(sum, r, v)));
  if (depth > 0) {
    const unrolled = Math.min(depth, maxUnrolled, Math.max(1, Math.ceil(loopProducts / (rows * width))));
    const passes = Math.floor(depth / unrolled);
    asm.move(aNext, a);
    asm.move(bNext, b);
    const step = (k: number): void =>
      emitTileStep(code, sums, {
        factor: (row) => ({ base: aNext, displacement: row * tile.aRowBytes + k * tile.aDepthBytes }),
        columns: (vector) => ({ base: bNext, displacement: k * tile.bDepthBytes + tile.bVectorBytes(vector) }),
      });
    const pass = (count: number): void => {
      for (const k of indices(count)) step(k);
    };
    if (passes > 1) {
      asm.loadImmediate(counter, passes);
      asm.countDown(counter, () => {
        pass(unrolled);
        asm.add(aNext, unrolled * tile.aDepthBytes);
        asm.add(bNext, unrolled * tile.bDepthBytes);
      });
      pass(depth % unrolled);
    } else pass(depth);
  }
  use(sums);
  for (const row of sums.toReversed()) vectors.release(...row.toReversed());
}

/** The operands of a tile at one k. */
export interface TileStep {
  /** Where the element of A of a row is. */
  factor(row: number): Memory;
  /** Where a vector of columns of B is. */
  columns(vector: number): Memory;
  /** Loads a vector of columns, where it may be partial. Default: all are whole. */
  readonly load?: (to: Vector, vector: number, from: Memory) => void;
}

/** Emits the products of one k, added to `sums`, as [row][vector]. Keeps the operand with fewer vectors in registers. */
export function emitTileStep(
  { asm, vectors }: FloatCode,
  sums: readonly (readonly Vector[])[],
  { factor, columns, load = (to, _vector, from) => asm.vector("vmovups", to, from) }: TileStep,
): void {
  const rows = sums.length;
  const width = at(sums, 0).length;
  const sum = (row: number, vector: number): Vector => at(at(sums, row), vector);
  if (rows <= width) {
    vectors.with(rows + 1, (taken) => {
      for (const row of indices(rows)) asm.vector("vbroadcastss", at(taken, row), factor(row));
      for (const vector of indices(width)) {
        load(at(taken, rows), vector, columns(vector));
        for (const row of indices(rows)) asm.vector("vfmadd231ps", sum(row, vector), at(taken, row), at(taken, rows));
      }
    });
    return;
  }
  vectors.with(width + 1, (taken) => {
    for (const vector of indices(width)) load(at(taken, vector), vector, columns(vector));
    for (const row of indices(rows)) {
      asm.vector("vbroadcastss", at(taken, width), factor(row));
      for (const vector of indices(width)) asm.vector("vfmadd231ps", sum(row, vector), at(taken, width), at(taken, vector));
    }
  });
}
