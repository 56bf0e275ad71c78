/**
 * Batched matrix product C[i] = alpha * A[i] B[i] of two computed operands given by strides, such as attention scores (B is the transposed keys, heads
 * interleaved) and context.
 *
 * A piece is one panel of 8 columns of one product. Where the columns of B are not contiguous, or enough rows use them, the panel is first copied to
 * scratch memory in the order in which the micro-kernel reads it.
 */
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { emitBlock } from "../loops/blocks.ts";
import { type Size, offsetBy, addressAt, product, sizeValue, scaleSize, unravel } from "../loops/addressing.ts";
import { dotPanel } from "./dot-panel.ts";
import { floatBytes, indices, laneCount, storeLanes } from "../loops/lanes.ts";
import { emitMicroKernel, int32TileArithmetic, tileColumns, tileRows } from "./micro-kernel.ts";
import { type Panel, copyPanel } from "./panel-copy.ts";
import { widePanelColumns } from "./weight-packing.ts";

/** Strides of a batch of matrices, in elements: between rows, between columns, and along each batch axis. */
export interface MatrixStrides {
  readonly row: number;
  readonly column: number;
  readonly batch: readonly number[];
}

/** Shapes, strides and scale factor of a batched matrix product. Each A[i] is [m, k], B[i] is [k, n] and C[i] is [m, n]. */
export interface BatchedMatmulRequest {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Sizes of the batch axes, such as [batch, heads]. May be empty. */
  readonly batch: readonly number[];
  readonly a: MatrixStrides;
  readonly b: MatrixStrides;
  /** Strides of C; `column` must be 1. */
  readonly c: MatrixStrides;
  /** Factor of the product. Default: 1. */
  readonly alpha?: number;
  /** Columns of a piece for vectors of more than 128 bits: 16. Default: 8, or more for one or two rows. */
  readonly panelColumns?: typeof widePanelColumns;
  /** int32 sums wrap around and need alpha 1. Default: float32. */
  readonly type?: "float32" | "int32";
}

/** From this many rows on, copying a panel of B costs less than reading it with a stride. */
const minRowsToCopy = 16;
/** Rows of a tile of 16 columns, which fills the registers that V8 uses as well as one of 4 rows and 8 columns. */
const wideTileRows = 2;
/** Up to this many rows, contiguous columns are multiplied as dot products, without a copy. */
const maxDotRows = 3;
/** Panels that fit V8's registers together, for one row and for two. */
const panelsForFewRows: readonly number[] = [4, 2];
const floatsPerNanosecond = 22;
/** For few rows the time is spent on reading B, as attention of one token reads keys and values. */
const bytesPerNanosecond = 10;

/**
 * Generates the kernel of a batch of matrix products with any strides. Parameters: a, b, c, and scratch when `scratchBytes` is not 0. One piece (unit
 * of parallel work) is a panel of columns of one product.
 */
export function batchedMatmul(request: BatchedMatmulRequest): Kernel {
  const { m, n, k, batch, b, alpha = 1, type = "float32" } = request;
  const isDots = isDotProduct(request);
  const copies = !isDots && copiesPanels(request);
  const width = panelWidth(request, copies);
  const panels = Math.ceil(n / width);
  const dynamicSizes: Record<string, number> = {};
  const isTold = !isDots && k > 0;
  if (isTold) productSizes(request, width, (name, size) => (dynamicSizes[name] = size));
  return defineKernel({
    family: "batched-matmul",
    request: isTold ? { ...specialization(request, width), copies, type } : { ...request, alpha, type },
    dynamicSizes,
    inputs: ["a", "b"],
    outputs: ["c"],
    pieces: panels * product(batch),
    pieceNanoseconds: Math.max(m / floatsPerNanosecond, floatBytes / bytesPerNanosecond) * Math.min(n, width) * k + 10,
    scratchBytes: copies ? Math.ceil(k / laneCount) * laneCount * (request.panelColumns ?? tileColumns) * floatBytes : 0,
    machine: { request },
    emit(f, offsets, from, to, dynamic) {
      const sizes = productSizes(request, width, (name, size) => dynamic[name] ?? size);
      const panelCount = sizeValue(sizes.panels);
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, panelCount));
        const panel = f.value(i32.sub(piece, i32.mul(index, panelCount)));
        const coordinates = unravel(f, index, sizes.batch);
        const start = (base: I32, strides: readonly Size[]): I32 => addressAt(base, coordinates, inBytes(strides));
        const at: PanelAddresses = {
          a: f.value(start(offsets.a, sizes.aBatch)),
          b: f.value(offsetBy(start(offsets.b, sizes.bBatch), panel, width * b.column * floatBytes)),
          c: f.value(offsetBy(start(offsets.c, sizes.cBatch), panel, width * floatBytes)),
          scratch: offsets.scratch,
        };
        emitBlock(f, { block: panel, blocks: panelCount, size: n, width }, (columns) =>
          isDots ? emitDots(f, request, at, columns) : emitPanel(f, { request, sizes }, at, columns),
        );
      });
    },
  });
}

/** Whether few rows are multiplied with contiguous columns, as dot products. */
export function isDotProduct({ m, a, b, type = "float32" }: BatchedMatmulRequest): boolean {
  return type === "float32" && m <= maxDotRows && b.row === 1 && a.column === 1 && b.column > 1;
}

/** Whether panels of B are copied to scratch memory. */
export function copiesPanels({ m, b }: BatchedMatmulRequest): boolean {
  return b.column !== 1 || b.row === 0 || m >= minRowsToCopy;
}

/** Rows of a tile. */
export function batchedTileRows({ panelColumns }: BatchedMatmulRequest): number {
  return panelColumns === widePanelColumns ? wideTileRows : tileRows;
}

/** Columns per piece of a product that is none of dot products. */
export function batchedPanelColumns(request: BatchedMatmulRequest): number {
  return panelWidth(request, copiesPanels(request));
}

/** Columns per piece, a multiple of 8. With one or two rows a piece has several panels, which gives more independent sums and longer reads of B. */
function panelWidth({ m, b, panelColumns }: BatchedMatmulRequest, copies: boolean): number {
  if (panelColumns !== undefined) return panelColumns;
  const panels = b.column === 1 && !copies ? (panelsForFewRows[m - 1] ?? 1) : 1;
  return panels * tileColumns;
}

/** Sizes that may be passed to the kernel as arguments, so that one compiled function serves all sequence lengths. */
interface ProductSizes {
  /** Number of whole blocks of 4 rows, or of 2 with wide panels. */
  readonly rowBlocks: Size;
  readonly panels: Size;
  readonly depth: Size;
  readonly aRow: Size;
  readonly cRow: Size;
  readonly batch: readonly Size[];
  readonly aBatch: readonly Size[];
  readonly bBatch: readonly Size[];
  readonly cBatch: readonly Size[];
}

function productSizes(request: BatchedMatmulRequest, width: number, size: (name: string, value: number) => Size): ProductSizes {
  const { m, n, k, batch, a, b, c } = request;
  const all = (name: string, values: readonly number[]): Size[] => values.map((value, axis) => size(`${name}${axis}`, value));
  return {
    rowBlocks: size("rowBlocks", Math.floor(m / batchedTileRows(request))),
    panels: size("panels", Math.ceil(n / width)),
    depth: size("depth", k),
    aRow: size("aRow", a.row),
    cRow: size("cRow", c.row),
    batch: all("size", batch),
    aBatch: all("a", a.batch),
    bBatch: all("b", b.batch),
    cBatch: all("c", c.batch),
  };
}

/** The part of the request that the generated code depends on when sizes are arguments; becomes part of the kernel key. */
function specialization(request: BatchedMatmulRequest, width: number): object {
  const { m, n, batch, a, b, alpha = 1, panelColumns } = request;
  const rows = batchedTileRows(request);
  return {
    ...(panelColumns === undefined ? {} : { panelColumns }),
    rows: m < rows ? { m } : { rest: m % rows },
    columns: n < width ? { n } : { width, rest: n % width },
    axes: batch.length,
    aColumn: a.column,
    b: { row: b.row, column: b.column },
    alpha,
  };
}

function inBytes(strides: readonly Size[]): Size[] {
  return strides.map((stride) => scaleSize(stride, floatBytes));
}

interface PanelAddresses {
  readonly a: I32;
  readonly b: I32;
  readonly c: I32;
  readonly scratch: I32 | undefined;
}

function emitDots(
  f: FunctionBuilder,
  { m, k, a, b, c, alpha = 1 }: BatchedMatmulRequest,
  at: PanelAddresses,
  columns: number,
): void {
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

function emitPanel(
  f: FunctionBuilder,
  { request, sizes }: { readonly request: BatchedMatmulRequest; readonly sizes: ProductSizes },
  at: PanelAddresses,
  columns: number,
): void {
  const { m, a, b, alpha = 1, type } = request;
  const { depth, rowBlocks } = sizes;
  const rowsOfTile = batchedTileRows(request);
  const vectors = Math.ceil(columns / laneCount);
  const aRowBytes = f.value(sizeValue(scaleSize(sizes.aRow, floatBytes)));
  const cRowBytes = f.value(sizeValue(scaleSize(sizes.cRow, floatBytes)));
  if (at.scratch !== undefined) {
    const panel: Panel = { depth, columns, from: at.b, to: at.scratch, rowStride: b.row, columnStride: b.column };
    copyPanel(f, panel);
  }
  const tile = (block: I32, rows: number): void => {
    const sums = emitMicroKernel(f, {
      rows,
      vectors,
      depth,
      a: offsetBy(at.a, block, scaleSize(aRowBytes, rowsOfTile)),
      b: at.scratch ?? at.b,
      aRowBytes,
      aDepthBytes: a.column * floatBytes,
      bDepthBytes: at.scratch === undefined ? b.row * floatBytes : vectors * laneCount * floatBytes,
      ...(type === "int32" ? { arithmetic: int32TileArithmetic } : {}),
      start: () => v128.zero,
    });
    const out = f.value(offsetBy(at.c, block, scaleSize(cRowBytes, rowsOfTile)));
    for (const [index, row] of sums.entries()) {
      if (index > 0) f.increase(out, cRowBytes);
      for (const [vector, sum] of row.entries()) {
        const scaled = alpha === 1 ? sum : f32x4.mul(sum, f32x4.const(alpha));
        storeLanes(f, out, scaled, Math.min(laneCount, columns - vector * laneCount), vector * laneCount * floatBytes);
      }
    }
  };
  const whole = f.value(sizeValue(rowBlocks));
  if (m >= rowsOfTile) f.range(i32.const(0), whole, 1, (block) => tile(block, rowsOfTile));
  if (m % rowsOfTile > 0) tile(whole, m % rowsOfTile);
}
