/** A tile of a float32 product: some rows and panels of columns, whose sums are in registers while k runs. */
import { at } from "../../../../contract/checked.ts";
import type { Register, Vector } from "../assembler/operands.ts";
import type { FloatCode } from "../math/float-code.ts";
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
    const step = (k: number): void => emitStep(code, tile, sums, k);
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

/** The products of one k. Keeps the operand with fewer vectors in registers. */
function emitStep(
  { asm, vectors }: FloatCode,
  { rows, vectors: width, aNext, bNext, aRowBytes, aDepthBytes, bDepthBytes, bVectorBytes }: FloatTile,
  sums: readonly (readonly Vector[])[],
  k: number,
): void {
  const factor = (row: number) => ({ base: aNext, displacement: row * aRowBytes + k * aDepthBytes }) as const;
  const columns = (vector: number) => ({ base: bNext, displacement: k * bDepthBytes + bVectorBytes(vector) }) as const;
  const sum = (row: number, vector: number): Vector => at(at(sums, row), vector);
  if (rows <= width) {
    vectors.with(rows + (rows === 1 ? 0 : 1), (taken) => {
      for (const row of indices(rows)) asm.vector("vbroadcastss", at(taken, row), factor(row));
      for (const vector of indices(width)) {
        if (rows === 1) {
          asm.vector("vfmadd231ps", sum(0, vector), at(taken, 0), columns(vector));
          continue;
        }
        asm.vector("vmovups", at(taken, rows), columns(vector));
        for (const row of indices(rows)) asm.vector("vfmadd231ps", sum(row, vector), at(taken, row), at(taken, rows));
      }
    });
    return;
  }
  vectors.with(width + 1, (taken) => {
    for (const vector of indices(width)) asm.vector("vmovups", at(taken, vector), columns(vector));
    for (const row of indices(rows)) {
      asm.vector("vbroadcastss", at(taken, width), factor(row));
      for (const vector of indices(width)) asm.vector("vfmadd231ps", sum(row, vector), at(taken, width), at(taken, vector));
    }
  });
}
