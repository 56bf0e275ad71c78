/**
 * Matrix-vector product: one row times packed weights. It is bound by memory, because every weight is used once. Two panels are read at a time, one from
 * each half of the matrix: two distant streams are prefetched faster than one (by 6 to 27 % for matrices of 768 x 2304 to 3072 x 768) and faster than
 * two neighbouring ones. Each sum runs over k in the order of the products of several rows, so that a row gets the same bits alone and among others:
 * sequences that are decoded together depend on it.
 */
import { at } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount } from "../loops/lanes.ts";
import { tileColumns } from "./micro-kernel.ts";

/** One panel of columns of the product: code generators for its initial sums and for storing its final sums. */
export interface GemvPanel {
  /** Vectors of four columns: 1 or 2. */
  readonly vectors: number;
  start(vector: number): V128;
  store(sums: readonly (readonly Local<"v128">[])[]): void;
}

/** A product of one row (vector) and a matrix of packed weights. */
export interface Gemv {
  readonly n: number;
  readonly depth: number;
  readonly a: I32;
  /** Weights [depth, n], packed by `packMatmulWeights`. */
  readonly b: I32;
  readonly pieces: { readonly from: I32; readonly to: I32 };
}

/** Number of pieces (units of parallel work) of a product with `n` columns. Piece i computes the panels i and i + pieces. */
export function gemvPieces(n: number): number {
  return Math.ceil(Math.ceil(n / tileColumns) / 2);
}

/** Generates the loop over the pieces. `panelAt` returns the code generators of the panel with this index and this number of columns. */
export function emitGemv(f: FunctionBuilder, row: Gemv, panelAt: (panel: I32, columns: number) => GemvPanel): void {
  const { n, depth, b, pieces } = row;
  const panels = Math.ceil(n / tileColumns);
  const apart = gemvPieces(n);
  const lastColumns = n - (panels - 1) * tileColumns;
  const panelBytes = depth * tileColumns * floatBytes;
  f.range(pieces.from, pieces.to, 1, (piece) => {
    const emit = (...columns: readonly number[]): void => {
      const taken = columns.map((each, index) => panelAt(f.value(i32.add(piece, i32.const(index * apart))), each));
      emitPanels(f, { ...row, b: offsetBy(b, piece, panelBytes), apartBytes: apart * panelBytes }, taken);
    };
    const pair = (): void => emit(tileColumns, tileColumns);
    if (panels === 1) emit(lastColumns);
    else if (lastColumns < tileColumns) {
      const withLast = (): void => emit(tileColumns, lastColumns);
      f.when(i32.eq(piece, i32.const(panels - 1 - apart)), withLast, panels % 2 === 0 ? pair : orAlone);
    } else if (panels % 2 === 0) pair();
    else orAlone();

    /** With an odd number of panels the middle one has no partner. */
    function orAlone(): void {
      f.when(i32.eq(piece, i32.const(apart - 1)), () => emit(tileColumns), pair);
    }
  });
}

interface GemvOperands {
  readonly depth: number;
  readonly a: I32;
  /** Address of the first panel, and the distance in bytes to the second. */
  readonly b: I32;
  readonly apartBytes: number;
}

function emitPanels(
  f: FunctionBuilder,
  { depth, a: row, b: first, apartBytes }: GemvOperands,
  panels: readonly GemvPanel[],
): void {
  const sums = panels.map(({ vectors, start }) => indices(vectors).map((vector) => f.value(start(vector))));
  if (depth > 0) {
    const a = f.value(row);
    const b = f.value(first);
    const end = f.value(i32.add(a, i32.const(depth * floatBytes)));
    const factor = f.local("v128");
    const add = (): void => {
      f.set(factor, v128.load32Splat(a, 0));
      for (const [panel, ofPanel] of sums.entries())
        for (const [vector, sum] of ofPanel.entries()) {
          const columns = v128.load(b, panel * apartBytes + vector * laneCount * floatBytes);
          f.set(sum, f.madd(factor, columns, sum));
        }
      f.increase(a, floatBytes);
      f.increase(b, tileColumns * floatBytes);
    };
    f.doWhile(add, () => i32.ne(a, end));
  }
  for (const [panel, { store }] of panels.entries()) store([at(sums, panel)]);
}
