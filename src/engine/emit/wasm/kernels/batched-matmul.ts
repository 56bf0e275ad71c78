/**
 * C[i] = alpha * A[i] B[i] for every i of a batch, both computed at run time and laid out by strides: attention's scores (B is K
 * transposed, heads interleaved) and context.
 *
 * A piece is one panel of 8 columns of one product. Where B's columns do not lie side by side, or enough rows use them, the panel is first
 * copied into scratch memory in the order in which the tiles read it.
 */
import type { I32 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../assembler/vector.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import { advanced, placed, product, unravel } from "./indexing.ts";
import { dotPanel } from "./dot-panel.ts";
import { storeLanes } from "./lanes.ts";
import { floatBytes, indices, laneCount, multiplyTile, type TileArithmetic, tileColumns, tileRows } from "./matmul-tile.ts";
import { type Panel, copyPanel } from "./panel-copy.ts";

/** Where a batch of matrices lies: elements between neighbouring rows, columns, and steps along each axis of the batch. */
export interface MatrixStrides {
  readonly row: number;
  readonly column: number;
  readonly batch: readonly number[];
}

export interface BatchedMatmulRequest {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Sizes of the axes that the products are counted by: [batch, heads], say. May be empty. */
  readonly batch: readonly number[];
  readonly a: MatrixStrides;
  readonly b: MatrixStrides;
  /** Columns of C lie side by side: `column` is 1. */
  readonly c: MatrixStrides;
  /** Multiplies the product; 1 where absent. */
  readonly alpha?: number;
  /** Sums of int32 wrap around; alpha is 1. float32 where absent. */
  readonly type?: "float32" | "int32";
}

const wholeArithmetic: TileArithmetic = {
  loadColumns: (b, offset) => v128.load(b, offset),
  accumulate: (_f, factor, columns, sum) => i32x4.add(sum, i32x4.mul(factor, columns)),
};

/** From so many rows on, copying a panel of B costs less than reading it from where its rows lie apart. */
const rowsWorthCopying = 16;
/** Up to so many rows, columns whose elements lie side by side are multiplied where they are. */
const rowsOfDots = 3;
const floatsPerNanosecond = 22;

/** Parameters: a, b, c, and scratch where `scratchBytes` is not 0. */
export function batchedMatmul(request: BatchedMatmulRequest): Kernel {
  const { m, n, k, batch, a, b, c, alpha = 1, type = "float32" } = request;
  const panels = Math.ceil(n / tileColumns);
  const dots = type === "float32" && m <= rowsOfDots && b.row === 1 && a.column === 1 && b.column > 1;
  const copies = !dots && (b.column !== 1 || b.row === 0 || m >= rowsWorthCopying);
  return defineKernel({
    family: "batched-matmul",
    request: { m, n, k, batch, a, b, c, alpha, type },
    inputs: ["a", "b"],
    outputs: ["c"],
    pieces: panels * product(batch),
    pieceNanoseconds: (m * Math.min(n, tileColumns) * k) / floatsPerNanosecond + 10,
    scratchBytes: copies ? Math.ceil(k / laneCount) * laneCount * tileColumns * floatBytes : 0,
    emit(f, offsets, from, to) {
      const bytes = (strides: readonly number[]): number[] => strides.map((stride) => stride * floatBytes);
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, i32.const(panels)));
        const panel = f.value(i32.sub(piece, i32.mul(index, i32.const(panels))));
        const coordinates = unravel(f, index, batch);
        const at: Place = {
          a: f.value(placed(offsets.a, coordinates, bytes(a.batch))),
          b: f.value(advanced(placed(offsets.b, coordinates, bytes(b.batch)), panel, tileColumns * b.column * floatBytes)),
          c: f.value(advanced(placed(offsets.c, coordinates, bytes(c.batch)), panel, tileColumns * floatBytes)),
          scratch: offsets.scratch,
        };
        const rest = n % tileColumns;
        const emit = dots ? emitDots : emitPanel;
        const whole = (): void => emit(f, request, at, tileColumns);
        if (rest === 0) whole();
        else if (panels === 1) emit(f, request, at, rest);
        else f.when(i32.ne(panel, i32.const(panels - 1)), whole, () => emit(f, request, at, rest));
      });
    },
  });
}

interface Place {
  readonly a: I32;
  readonly b: I32;
  readonly c: I32;
  readonly scratch: I32 | undefined;
}

function emitDots(f: FunctionBuilder, { m, k, a, b, c, alpha = 1 }: BatchedMatmulRequest, at: Place, columns: number): void {
  for (const row of indices(m))
    for (let first = 0; first < columns; first += laneCount) {
      const lanes = Math.min(laneCount, columns - first);
      const result = dotPanel(f, {
        depth: k,
        columns: lanes,
        a: i32.add(at.a, i32.const(row * a.row * floatBytes)),
        b: i32.add(at.b, i32.const(first * b.column * floatBytes)),
        columnStride: b.column,
      });
      const scaled = alpha === 1 ? result : f32x4.mul(result, f32x4.const(alpha));
      storeLanes(f, at.c, scaled, lanes, (row * c.row + first) * floatBytes);
    }
}

function emitPanel(f: FunctionBuilder, request: BatchedMatmulRequest, at: Place, columns: number): void {
  const { m, k, a, b, c, alpha = 1, type } = request;
  const vectors = Math.ceil(columns / laneCount);
  if (at.scratch !== undefined) {
    const panel: Panel = { depth: k, columns, from: at.b, to: at.scratch, rowStride: b.row, columnStride: b.column };
    copyPanel(f, panel);
  }
  const tile = (block: I32, rows: number): void => {
    const sums = multiplyTile(f, {
      rows,
      vectors,
      depth: k,
      a: advanced(at.a, block, tileRows * a.row * floatBytes),
      b: at.scratch ?? at.b,
      aRowBytes: a.row * floatBytes,
      aDepthBytes: a.column * floatBytes,
      bDepthBytes: at.scratch === undefined ? b.row * floatBytes : vectors * laneCount * floatBytes,
      ...(type === "int32" ? { arithmetic: wholeArithmetic } : {}),
      start: () => v128.zero,
    });
    const out = f.value(advanced(at.c, block, tileRows * c.row * floatBytes));
    sums.forEach((row, r) =>
      row.forEach((sum, v) => {
        const scaled = alpha === 1 ? sum : f32x4.mul(sum, f32x4.const(alpha));
        storeLanes(f, out, scaled, Math.min(laneCount, columns - v * laneCount), (r * c.row + v * laneCount) * floatBytes);
      }),
    );
  };
  const whole = Math.floor(m / tileRows);
  if (whole > 0) f.range(i32.const(0), i32.const(whole), 1, (block) => tile(block, tileRows));
  if (m % tileRows > 0) tile(i32.const(whole), m % tileRows);
}
