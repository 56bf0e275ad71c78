/**
 * Tiles of matrices in TL1 and TL2 of https://github.com/microsoft/BitNet. Both types store a matrix `[rows, columns]` tile by tile, in the order in which the
 * kernels of bitnet.cpp read it. The sizes of the tiles are chosen when those kernels are generated (utils/codegen_tl1.py and codegen_tl2.py, which write them
 * to include/kernel_config.ini), and are in no GGUF file.
 */

/** Types with lookup tables. TL1 has one published layout, for NEON; TL2 one, for AVX2. */
export type TableType = "TL1" | "TL2";

/** Sizes of tiles, by their names in kernel_config.ini. */
export interface TableTiles {
  /** Rows of a tile: `bm` in kernel_config.ini, BM in the code. */
  readonly rows: number;
  /** Columns of a tile: `bk`, BK in the code. */
  readonly columns: number;
  /** Rows that are computed together in a register: `bmm`, bm in the code. */
  readonly registerRows: number;
}

/** Rows and columns of a matrix, and its tiles. */
export interface TiledShape {
  readonly rows: number;
  readonly columns: number;
  readonly tiles: TableTiles;
}

/** Rows, columns and the tiles (rows, columns, rows of a register). */
type Row = readonly [rows: number, columns: number, tiles: readonly [number, number, number]];

/**
 * The tiles with which `setup_env.py` of BitNet generates kernels for the models that it converts to TL1 and TL2, in its order: bitnet_b1_58-large,
 * bitnet_b1_58-3B, Llama3-8B-1.58-100B-tokens. Its option `--use-pretuned` copies other files for TL1, and generates these over them.
 */
const published: Readonly<Record<TableType, readonly Row[]>> = {
  TL1: [
    [1536, 4096, [256, 128, 32]],
    [1536, 1536, [128, 64, 64]],
    [4096, 1536, [256, 128, 32]],
    [3200, 8640, [160, 64, 32]],
    [3200, 3200, [320, 128, 64]],
    [8640, 3200, [320, 64, 32]],
    [14336, 4096, [256, 128, 32]],
    [4096, 14336, [128, 64, 64]],
    [1024, 4096, [256, 128, 32]],
    [4096, 4096, [128, 64, 64]],
  ],
  TL2: [
    [1536, 4096, [256, 96, 32]],
    [1536, 1536, [128, 192, 32]],
    [4096, 1536, [256, 96, 32]],
    [3200, 8640, [160, 96, 32]],
    [3200, 3200, [320, 96, 32]],
    [8640, 3200, [320, 96, 32]],
    [14336, 4096, [256, 96, 32]],
    [4096, 14336, [128, 96, 32]],
    [1024, 4096, [256, 96, 32]],
    [4096, 4096, [128, 96, 32]],
  ],
};

/** The published tiles of a matrix; undefined for a shape that none of the published models has. */
export function publishedTiles(type: TableType, rows: number, columns: number): TableTiles | undefined {
  const found = published[type].find(([m, k]) => m === rows && k === columns);
  if (found === undefined) return undefined;
  const [, , [tileRows, tileColumns, registerRows]] = found;
  return { rows: tileRows, columns: tileColumns, registerRows };
}

/** Reason why a matrix cannot be stored in these tiles; undefined if it can. The rules are taken from the code generators. */
export function tileProblem(type: TableType, { rows, columns, tiles }: TiledShape): string | undefined {
  const { rows: tileRows, columns: tileColumns, registerRows } = tiles;
  const allowed = type === "TL1" ? [32, 64] : [32];
  if (!allowed.includes(registerRows)) return `${registerRows} rows of a register are not ${allowed.join(" or ")}`;
  if (tileRows % registerRows !== 0)
    return `the ${tileRows} rows of a tile are not a multiple of its ${registerRows} rows of a register`;
  if (rows % tileRows !== 0) return `the ${rows} rows are not a multiple of the ${tileRows} of a tile`;
  // TL1 divides a tile into 4 or 8 columns of a register; TL2 into 24, whose signs share a vector.
  const step = type === "TL1" ? 256 / registerRows : 24;
  if (tileColumns % step !== 0) return `the ${tileColumns} columns of a tile are not a multiple of ${step}`;
  if (type === "TL1") {
    return columns % tileColumns === 0 ? undefined : `the ${columns} columns are not a multiple of the ${tileColumns} of a tile`;
  }
  const rest = columns % tileColumns;
  if (columns < tileColumns) return `the ${columns} columns are fewer than the ${tileColumns} of a tile`;
  if (rest % 32 !== 0) return `the ${rest} columns behind the last tile of ${tileColumns} are not a multiple of 32`;
  return rest > 256 ? `${rest} columns are behind the last tile of ${tileColumns}, and there is room for 256` : undefined;
}

/**
 * Tiles from texts such as "3200x8640=160/96/32": rows and columns of the matrix, then `bm`, `bk` and `bmm` of kernel_config.ini. The keys of the result are
 * those before the equals sign. Throws Error for a text of another form, and for a shape that comes twice.
 */
export function parseTiles(texts: readonly string[]): ReadonlyMap<string, TableTiles> {
  const result = new Map<string, TableTiles>();
  for (const text of texts) {
    const parts = /^(\d{1,9}x\d{1,9})=(\d{1,6})\/(\d{1,6})\/(\d{1,6})$/.exec(text.trim());
    const [, shape = "", rows = "0", columns = "0", registerRows = "0"] = parts ?? [];
    const tiles = { rows: Number(rows), columns: Number(columns), registerRows: Number(registerRows) };
    if (parts === null || Object.values(tiles).some((size) => size < 1))
      throw new Error(`"${text}" is not of the form ROWSxCOLUMNS=BM/BK/BMM, such as 3200x8640=160/96/32`);
    if (result.has(shape)) throw new Error(`the shape ${shape} comes twice`);
    result.set(shape, tiles);
  }
  return result;
}
