/**
 * Attention of every head, softmax(scale * Q K^T + mask) V, without the scores of all heads in memory: a piece is a block of queries of one
 * head, whose scores stay in the second cache from the first product to the second.
 */
import type { I32 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import type { MatrixStrides } from "./batched-matmul.ts";
import { dotPanel } from "./dot-panel.ts";
import { advanced, placed, product, unravel } from "./indexing.ts";
import { storeLanes } from "./lanes.ts";
import { floatBytes, indices, laneCount, multiplyTile, tileColumns, tileRows } from "./matmul-tile.ts";
import { copyPanel } from "./panel-copy.ts";
import { softmaxRow } from "./softmax.ts";

export interface AttentionRequest {
  /** The axes that count heads: [batch, heads], say. A head of K and V that several of Q share has stride 0, or its own axis of the batch. */
  readonly batch: readonly number[];
  readonly queries: number;
  readonly keys: number;
  /** Elements of a query and a key, and of a value. */
  readonly headSize: number;
  readonly valueSize: number;
  /** Q, K and V are [queries or keys, size] with their columns side by side, as is the result: `column` is 1 everywhere. */
  readonly q: MatrixStrides;
  readonly k: MatrixStrides;
  readonly v: MatrixStrides;
  readonly y: MatrixStrides;
  /** Multiplies the scores. */
  readonly scale: number;
  /** Added to the scores [queries, keys]: `column` is 1, or 0 where it repeats. */
  readonly mask?: MatrixStrides;
}

/** Scores of a block at most: half of what shares the second cache with a panel and the next rows. */
const blockBytes = 128 * 1024;
const mostBlockRows = 64;
/** Up to so many queries, keys are multiplied where they lie. */
const rowsOfDots = 3;
/** Columns of one row's tile. */
const widestTile = 3 * tileColumns;
const multiplyAddsPerNanosecond = 20;

/** Parameters: q, k, v, mask where there is one, y, scratch. Pieces: blocks of at most 64 queries of each head. */
export function attention(request: AttentionRequest): Kernel {
  const { batch, queries, keys, headSize, valueSize, mask } = request;
  const scoreStride = Math.ceil(keys / tileColumns) * tileColumns;
  const fitting = Math.floor(blockBytes / (scoreStride * floatBytes * tileRows)) * tileRows;
  const rows = Math.max(1, Math.min(queries, mostBlockRows, Math.max(fitting, tileRows)));
  const blocks = Math.ceil(queries / rows);
  const scoreBytes = rows * scoreStride * floatBytes;
  const panelRows = Math.ceil(Math.max(headSize, keys) / laneCount) * laneCount;
  return defineKernel({
    family: "attention",
    request,
    inputs: ["q", "k", "v"],
    optional: { mask: mask !== undefined },
    outputs: ["y"],
    pieces: blocks * product(batch),
    pieceNanoseconds: (rows * keys * (headSize + valueSize)) / multiplyAddsPerNanosecond + rows * keys + 20,
    scratchBytes: scoreBytes + panelRows * tileColumns * floatBytes,
    emit(f, offsets, from, to) {
      const { scratch = offsets.y } = offsets;
      const panel = f.value(i32.add(scratch, i32.const(scoreBytes)));
      f.range(from, to, 1, (piece) => {
        const head = f.value(i32.divU(piece, i32.const(blocks)));
        const block = f.value(i32.sub(piece, i32.mul(head, i32.const(blocks))));
        const coordinates = unravel(f, head, batch);
        const start = (base: I32, strides: MatrixStrides, isByRow: boolean): I32 => {
          const matrix = placed(
            base,
            coordinates,
            strides.batch.map((stride) => stride * floatBytes),
          );
          return f.value(isByRow ? advanced(matrix, block, rows * strides.row * floatBytes) : matrix);
        };
        const at: Place = {
          q: start(offsets.q, request.q, true),
          k: start(offsets.k, request.k, false),
          v: start(offsets.v, request.v, false),
          y: start(offsets.y, request.y, true),
          mask: offsets.mask && mask && start(offsets.mask, mask, true),
          scores: scratch,
          panel,
          scoreStride,
        };
        const rest = queries % rows;
        const whole = (): void => emitBlock(f, request, at, rows);
        if (rest === 0) whole();
        else f.when(i32.ne(block, i32.const(blocks - 1)), whole, () => emitBlock(f, request, at, rest));
      });
    },
  });
}

interface Place {
  readonly q: I32;
  readonly k: I32;
  readonly v: I32;
  readonly y: I32;
  readonly mask: I32 | undefined;
  readonly scores: I32;
  readonly panel: I32;
  readonly scoreStride: number;
}

function emitBlock(f: FunctionBuilder, request: AttentionRequest, at: Place, rows: number): void {
  const { keys, valueSize } = request;
  forPanels(f, keys, tileColumns, (panel, columns) =>
    emitScores(f, request, at, { rows, first: f.value(i32.mul(panel, i32.const(tileColumns))), columns }),
  );
  f.range(i32.const(0), i32.const(rows), 1, (row) => {
    const scores = f.value(advanced(at.scores, row, at.scoreStride * floatBytes));
    const mask = at.mask && f.value(advanced(at.mask, row, (request.mask?.row ?? 0) * floatBytes));
    const maskStep = request.mask?.column ?? 0;
    softmaxRow(f, keys, { rowX: scores, rowY: scores, scale: 1, mask, maskStep, logarithm: false });
  });
  const width = rows === 1 && request.v.row > 0 ? widestTile : tileColumns; // one row alone keeps too few sums in flight
  forPanels(f, valueSize, width, (panel, columns) =>
    emitContext(f, request, at, { rows, first: f.value(i32.mul(panel, i32.const(width))), columns }),
  );
}

interface Part {
  readonly rows: number;
  /** The first of the columns. */
  readonly first: I32;
  readonly columns: number;
}

/** scores = scale * Q K^T, for one panel of keys. The last panel's lanes of no key are written as well: the scratch rows have room. */
function emitScores(
  f: FunctionBuilder,
  { headSize, q, k, scale }: AttentionRequest,
  at: Place,
  { rows, first, columns }: Part,
): void {
  const keysAt = f.value(advanced(at.k, first, k.row * floatBytes));
  const out = f.value(advanced(at.scores, first, floatBytes));
  if (rows <= rowsOfDots) {
    for (const row of indices(rows))
      for (let column = 0; column < columns; column += laneCount) {
        const sums = dotPanel(f, {
          depth: headSize,
          columns: Math.min(laneCount, columns - column),
          a: i32.add(at.q, i32.const(row * q.row * floatBytes)),
          b: i32.add(keysAt, i32.const(column * k.row * floatBytes)),
          columnStride: k.row,
        });
        f.run(v128.store(out, f32x4.mul(sums, f32x4.const(scale)), (row * at.scoreStride + column) * floatBytes));
      }
    return;
  }
  copyPanel(f, { depth: headSize, columns, from: keysAt, to: at.panel, rowStride: 1, columnStride: k.row });
  const vectors = Math.ceil(columns / laneCount);
  forRowTiles(f, rows, (block, count) => {
    const target = f.value(advanced(out, block, tileRows * at.scoreStride * floatBytes));
    multiplyTile(f, {
      rows: count,
      vectors,
      depth: headSize,
      a: advanced(at.q, block, tileRows * q.row * floatBytes),
      b: at.panel,
      aRowBytes: q.row * floatBytes,
      aDepthBytes: floatBytes,
      bDepthBytes: vectors * laneCount * floatBytes,
      start: () => v128.zero,
    }).forEach((row, r) =>
      row.forEach((sum, vector) => {
        const offset = (r * at.scoreStride + vector * laneCount) * floatBytes;
        f.run(v128.store(target, f32x4.mul(sum, f32x4.const(scale)), offset));
      }),
    );
  });
}

/** y = scores V, for one panel of V's columns. */
function emitContext(f: FunctionBuilder, { keys, v, y }: AttentionRequest, at: Place, { rows, first, columns }: Part): void {
  const values = f.value(advanced(at.v, first, floatBytes));
  const out = f.value(advanced(at.y, first, floatBytes));
  const vectors = Math.ceil(columns / laneCount);
  const copies = rows > rowsOfDots || v.row === 0;
  if (copies) copyPanel(f, { depth: keys, columns, from: values, to: at.panel, rowStride: v.row, columnStride: 1 });
  forRowTiles(f, rows, (block, count) => {
    const target = f.value(advanced(out, block, tileRows * y.row * floatBytes));
    multiplyTile(f, {
      rows: count,
      vectors,
      depth: keys,
      a: advanced(at.scores, block, tileRows * at.scoreStride * floatBytes),
      b: copies ? at.panel : values,
      aRowBytes: at.scoreStride * floatBytes,
      aDepthBytes: floatBytes,
      bDepthBytes: copies ? vectors * laneCount * floatBytes : v.row * floatBytes,
      start: () => v128.zero,
    }).forEach((row, r) =>
      row.forEach((sum, vector) => {
        const lanes = Math.min(laneCount, columns - vector * laneCount);
        storeLanes(f, target, sum, lanes, (r * y.row + vector * laneCount) * floatBytes);
      }),
    );
  });
}

function forPanels(f: FunctionBuilder, columns: number, width: number, body: (panel: I32, columns: number) => void): void {
  const whole = Math.floor(columns / width);
  if (whole > 0) f.range(i32.const(0), i32.const(whole), 1, (panel) => body(panel, width));
  if (columns % width > 0) body(i32.const(whole), columns % width);
}

function forRowTiles(f: FunctionBuilder, rows: number, body: (block: I32, rows: number) => void): void {
  const whole = Math.floor(rows / tileRows);
  if (whole > 0) f.range(i32.const(0), i32.const(whole), 1, (block) => body(block, tileRows));
  if (rows % tileRows > 0) body(i32.const(whole), rows % tileRows);
}
