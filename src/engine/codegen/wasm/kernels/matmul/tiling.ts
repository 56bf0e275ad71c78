/**
 * The loops around the tiles of a product with packed weights.
 *
 * The outer loop runs over panels of 8 columns, the inner one over tiles of 4 rows, so that a panel stays in the L1 cache and the rows in the L2 cache.
 * With few rows a tile takes several panels, for enough independent sums. When the rows exceed the L2 cache they are processed in blocks.
 */
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { minimum } from "../loops/addressing.ts";
import { tileColumns, tileRows } from "./micro-kernel.ts";

/** How a matrix product is divided into pieces (units of parallel work) and these into tiles. */
export interface Tiling {
  readonly m: number;
  readonly n: number;
  /** Whether pieces are panels of columns; otherwise they are blocks of 4 rows. */
  readonly splitsColumns: boolean;
  readonly pieces: number;
  /** Maximum number of rows of a tile. */
  readonly rowsPerTile: number;
  /** Rows of a cache block, a multiple of `rowsPerTile`. */
  readonly blockRows: number;
  /** Neighbouring panels that one tile takes. */
  readonly panelsPerTile: number;
  /** Columns of a panel. */
  readonly panelColumns: number;
  /** Number of whole blocks of `rowsPerTile` rows, as an argument, when the code serves any number of them; see `rowSpecialization`. */
  readonly rowBlocks?: I32;
}

/** The part of the tiling that the generated code depends on when the number of row blocks is an argument; becomes part of the kernel key. */
export function rowSpecialization({ m, splitsColumns, rowsPerTile }: Tiling): object {
  if (m < tileRows) return { m, byColumns: splitsColumns };
  const rest = { rest: m % rowsPerTile, byColumns: splitsColumns };
  return rowsPerTile === tileRows ? rest : { ...rest, rowsPerTile };
}

/**
 * Position of a tile: its first row is `rowBlock` * `rowsPerTile`, its first column `panel` * `panelColumns`. A tile of more columns spans neighbouring
 * panels.
 */
export interface TilePosition {
  readonly rowBlock: I32;
  readonly rows: number;
  readonly panel: I32;
  readonly columns: number;
}

/** Bytes of rows per cache block: about half of an L2 cache of 1 MB. */
const blockBytes = 512 * 1024;
/** From this many panels on a product is divided by columns, else by rows. */
const minPanelsToSplit = 4;

/**
 * Chooses the tiling of a product of A [m, k], whose rows take `aRowBytes` bytes, and B [k, n]. Default of `panelsPerTile`: chosen by m; of
 * `rowsPerTile`: 4; of `panelColumns`: 8.
 */
export function tilingFor(
  m: number,
  n: number,
  aRowBytes: number,
  panelsPerTile: number = defaultPanelsPerTile(m),
  rowsPerTile: number = tileRows,
  panelColumns: number = tileColumns,
): Tiling {
  const panels = Math.ceil(n / panelColumns);
  const rowBlocks = Math.ceil(m / rowsPerTile);
  const blockRows = Math.max(1, Math.floor(blockBytes / (Math.max(aRowBytes, 1) * rowsPerTile))) * rowsPerTile;
  const splitsColumns = m <= blockRows && (panels >= minPanelsToSplit || panels >= rowBlocks);
  return { m, n, splitsColumns, pieces: splitsColumns ? panels : rowBlocks, rowsPerTile, blockRows, panelsPerTile, panelColumns };
}

/** Rows that a thread takes together where products are divided by rows: the weights are read once for them. */
const rowsPerThread = 32;

/** `Kernel.tilePieces` of a product whose tiles have up to `panels` neighbouring panels. */
export function getTilePieces({ splitsColumns, rowsPerTile }: Tiling, panels: number): number {
  return splitsColumns ? panels : Math.ceil(rowsPerThread / rowsPerTile);
}

interface Range {
  readonly from: I32;
  readonly to: I32;
}

/** Generates the loops over a range of pieces. Calls `tile` once for each tile size that occurs, to generate the code of one tile. */
export function emitTiles(f: FunctionBuilder, loops: Tiling, pieces: Range, tile: (place: TilePosition) => void): void {
  if (loops.splitsColumns) {
    emitPanels(f, loops, pieces, { from: i32.const(0), to: allRowBlocks(f, loops) }, tile);
    return;
  }
  const panels: Range = { from: i32.const(0), to: i32.const(Math.ceil(loops.n / loops.panelColumns)) };
  const blocks = loops.blockRows / loops.rowsPerTile;
  f.range(pieces.from, pieces.to, blocks, (from) => {
    const to = f.value(minimum(i32.add(from, i32.const(blocks)), pieces.to));
    emitPanels(f, loops, panels, { from, to }, tile);
  });
}

function emitPanels(f: FunctionBuilder, loops: Tiling, panels: Range, blocks: Range, tile: (place: TilePosition) => void): void {
  const { panelColumns } = loops;
  const whole = Math.floor(loops.n / panelColumns);
  const rest = loops.n % panelColumns;
  const wholeTo = f.value(minimum(panels.to, i32.const(whole)));
  const next = f.value(panels.from);
  const rows = (panel: I32, columns: number): void => emitRows(f, loops, blocks, { panel, columns }, tile);
  const atOnce = loops.panelsPerTile;
  if (atOnce > 1) {
    f.while(
      () => i32.leU(i32.add(next, i32.const(atOnce)), wholeTo),
      () => {
        rows(next, atOnce * panelColumns);
        f.increase(next, atOnce);
      },
    );
  }
  f.range(next, wholeTo, 1, (panel) => rows(panel, panelColumns));
  if (rest > 0) f.when(i32.gtS(panels.to, i32.const(whole)), () => rows(i32.const(whole), rest));
}

/** Panels per tile for few rows: sums, columns and one factor per row must fit the 15 registers that V8 uses. */
function defaultPanelsPerTile(m: number): number {
  if (m === 1) return 3;
  return m === 2 ? 2 : 1;
}

function emitRows(
  f: FunctionBuilder,
  loops: Tiling,
  blocks: Range,
  columns: Pick<TilePosition, "panel" | "columns">,
  tile: (place: TilePosition) => void,
): void {
  const { m, rowsPerTile } = loops;
  const rest = m % rowsPerTile;
  const whole = wholeRowBlocks(loops);
  if (m >= rowsPerTile) {
    f.range(blocks.from, minimum(blocks.to, whole), 1, (rowBlock) => tile({ ...columns, rowBlock, rows: rowsPerTile }));
  }
  if (rest > 0) {
    f.when(i32.gtS(blocks.to, whole), () => tile({ ...columns, rowBlock: whole, rows: rest }));
  }
}

function wholeRowBlocks({ m, rowBlocks, rowsPerTile }: Tiling): I32 {
  return rowBlocks ?? i32.const(Math.floor(m / rowsPerTile));
}

/** Number of row blocks, including a last one of fewer rows. */
function allRowBlocks(f: FunctionBuilder, loops: Tiling): I32 {
  const whole = wholeRowBlocks(loops);
  return loops.m % loops.rowsPerTile === 0 ? whole : f.value(i32.add(whole, i32.const(1)));
}
