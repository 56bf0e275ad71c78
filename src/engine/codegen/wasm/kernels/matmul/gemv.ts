/**
 * One row times packed weights. Memory is what it waits for: every weight is used once. So two panels are read side by side, one from each half of
 * the matrix: two streams that far apart are fetched faster than one (by 6 to 27 % for matrices of 768 x 2304 to 3072 x 768), and faster than two
 * neighbours. Neighbouring k have sums of their own that need not wait for each other.
 */
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount, tileColumns } from "./micro-kernel.ts";

/** Sums, columns and a factor stay within the 15 registers that V8 has for vectors. */
const accumulatorsFor = (panels: number): number => (panels === 1 ? 3 : 2);

/** A panel of the row's product: its first sums, and what becomes of the last. */
export interface GemvPanel {
  /** Of four columns: 1 or 2. */
  readonly vectors: number;
  start(vector: number): V128;
  store(sums: readonly (readonly Local<"v128">[])[]): void;
}

export interface Gemv {
  readonly n: number;
  readonly depth: number;
  readonly a: I32;
  /** [depth, n] packed by `packMatmulWeights`. */
  readonly b: I32;
  readonly pieces: { readonly from: I32; readonly to: I32 };
}

/** A piece is a pair of panels, as far apart as there are pieces. */
export function gemvPieces(n: number): number {
  return Math.ceil(Math.ceil(n / tileColumns) / 2);
}

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

    /** Of an odd number of panels the middle one has no other. */
    function orAlone(): void {
      f.when(i32.eq(piece, i32.const(apart - 1)), () => emit(tileColumns), pair);
    }
  });
}

interface GemvOperands {
  readonly depth: number;
  readonly a: I32;
  /** The first panel's first byte, and bytes from there to the next panel's. */
  readonly b: I32;
  readonly apartBytes: number;
}

function emitPanels(
  f: FunctionBuilder,
  { depth, a: row, b: first, apartBytes }: GemvOperands,
  panels: readonly GemvPanel[],
): void {
  const ways = accumulatorsFor(panels.length);
  const sums = indices(ways).map((way) =>
    panels.map(({ vectors, start }) => indices(vectors).map((vector) => f.value(way === 0 ? start(vector) : v128.zero))),
  );
  const a = f.value(row);
  const b = f.value(first);
  const add = (count: number): void => {
    for (const way of indices(count)) {
      const factor = f.value(v128.load32Splat(a, way * floatBytes));
      for (const [panel, ofPanel] of (sums[way] ?? []).entries())
        for (const [vector, sum] of ofPanel.entries()) {
          const columns = v128.load(b, panel * apartBytes + (way * tileColumns + vector * laneCount) * floatBytes);
          f.set(sum, f.madd(factor, columns, sum));
        }
    }
    f.increase(a, count * floatBytes);
    f.increase(b, count * tileColumns * floatBytes);
  };
  const rounds = Math.floor(depth / ways);
  if (rounds > 0) {
    const end = f.value(i32.add(a, i32.const(rounds * ways * floatBytes)));
    f.doWhile(
      () => add(ways),
      () => i32.ne(a, end),
    );
  }
  if (depth % ways > 0) add(depth % ways);
  for (const [panel, { store }] of panels.entries()) {
    const [start = [], ...others] = sums.map((way) => way[panel] ?? []);
    store([start.map((sum, vector) => f.value(others.reduce<V128>((all, way) => f32x4.add(all, way[vector] ?? sum), sum)))]);
  }
}
