/** Known answers of the decoders of BitNet's types, whose elements lie in an order that depends on the layout. */
import { decodeBase64 } from "../../platform/base64.ts";
import { decodeBlocks } from "../gguf/blocks/block-format.ts";
import { decodeI2S, fitsI2SLayout, i2s, i2sBlocks, i2sBytes, type I2SLayout, i2sLayouts, unpackI2S } from "../gguf/blocks/i2s.ts";
import { tableCodeBytes, tableScaleOffset, unpackTables, usedCodeBytes } from "../gguf/blocks/lookup-tables.ts";
import { parseTiles, publishedTiles, type TableType, type TiledShape, tileProblem } from "../gguf/blocks/tl-tiles.ts";
import { answerTable } from "./answer-table.ts";
import { computePatternDigest, displaced, patternBytes } from "./pattern.ts";

/** Rows and columns of the known matrix in I2_S. */
export const i2sAnswerShape = { rows: 8, columns: 128 } as const;

/** Whether matrices of this shape can be in a layout. */
const fits: readonly (readonly [I2SLayout, rows: number, columns: number, fits: boolean])[] = [
  ["x86", 1, 128, true],
  ["x86", 3, 64, false],
  ["arm", 3, 64, true],
  ["arm", 3, 96, false],
  ["x86-interleaved", 4, 5, true],
  ["x86-interleaved", 6, 4, false],
];

/** Error of the decoders of I2_S, if they give wrong values. */
export function findI2SProblem(): string | undefined {
  const { rows, columns } = i2sAnswerShape;
  const elements = rows * columns;
  const bytes = displaced(decodeBase64(answerTable.i2s.bytes));
  if (i2sBytes(elements) !== bytes.length) return `${elements} elements of I2_S take ${i2sBytes(elements)} bytes`;
  const isRight =
    i2s.elements === 128 && i2s.groupElements === 128 && i2s.bytes === 36 && i2s.codeBits === 2 && i2s.smallestCode === -1;
  if (!isRight || i2s.hasMins) return "blocks of I2_S are described wrong";
  for (const layout of i2sLayouts) {
    const shape = { rows, columns, layout };
    const { codes, scale } = unpackI2S(bytes, shape);
    const blocks = displaced(i2sBlocks(bytes, shape));
    const values = new Float32Array(elements);
    decodeBlocks(i2s, blocks, values);
    const all = [decodeI2S(bytes, shape), Float32Array.from(codes, (code) => code * scale), values];
    if (all.some((each) => computePatternDigest(each) !== answerTable.i2s.digests[layout]))
      return `the decoder of I2_S gives wrong values in the layout "${layout}"`;
  }
  const wrong = fits.find(([layout, ...shape]) => fitsI2SLayout(layout, shape[0], shape[1]) !== shape[2]);
  return wrong && `a matrix of ${wrong[1]}x${wrong[2]} ${wrong[3] ? "does not fit" : "fits"} the layout "${wrong[0]}"`;
}

/** Matrices with several tiles in each direction, several registers of a tile and several steps of a register. */
export const tableAnswerShapes: Readonly<Record<TableType, readonly TiledShape[]>> = {
  TL1: [
    { rows: 128, columns: 64, tiles: { rows: 64, columns: 32, registerRows: 32 } },
    { rows: 128, columns: 32, tiles: { rows: 64, columns: 16, registerRows: 64 } },
  ],
  TL2: [{ rows: 128, columns: 208, tiles: { rows: 64, columns: 72, registerRows: 32 } }],
};

/** Bytes of a matrix in which every index represents weights: up to 8 for pairs, up to 13 for triples, whose signs follow. */
export function tableAnswerBytes(type: TableType, { rows, columns, tiles }: TiledShape): Uint8Array {
  const whole = columns - (columns % tiles.columns);
  const [triples, signs, pairs] =
    type === "TL1" ? [0, 0, (rows * columns) / 4] : [(rows * whole) / 6, (rows * whole) / 24, (rows * (columns - whole)) / 4];
  const random = patternBytes(2 * (triples + signs + pairs), columns);
  return Uint8Array.from({ length: triples + signs + pairs }, (_, index) => {
    const [first, second] = [random[2 * index] ?? 0, random[2 * index + 1] ?? 0];
    if (index >= triples && index < triples + signs) return first;
    const indices = index < triples ? 14 : 9;
    return ((first % indices) << 4) | (second % indices);
  });
}

/** Bytes of matrices and of their scales (tableCodeBytes, tableScaleOffset), as Microsoft's converter writes them, and whether tiles fit. */
const sizes: readonly (readonly [TableType, rows: number, columns: number, bytes: number, scale: number])[] = [
  ["TL1", 320, 256, 20_480, 20_480],
  ["TL1", 100, 50, 1250, 1280],
  ["TL2", 320, 320, 24_746, 24_768],
  ["TL2", 256, 192, 12_970, 12_992],
  ["TL2", 1536, 1536, 507_904, 507_904],
];

type Fit = readonly [TableType, rows: number, columns: number, tiles: readonly [number, number, number], fits: boolean];

const tileFits: readonly Fit[] = [
  ["TL1", 256, 128, [256, 128, 32], true],
  ["TL1", 256, 120, [64, 120, 64], true],
  ["TL1", 256, 128, [256, 128, 16], false],
  ["TL1", 256, 128, [48, 128, 32], false],
  ["TL1", 300, 128, [128, 128, 32], false],
  ["TL1", 256, 12, [128, 12, 32], false],
  ["TL1", 256, 12, [128, 12, 64], true],
  ["TL1", 256, 96, [128, 64, 32], false],
  ["TL2", 256, 256, [256, 96, 32], true],
  ["TL2", 256, 96, [256, 96, 32], true],
  ["TL2", 256, 192, [256, 96, 64], false],
  ["TL2", 256, 96, [128, 32, 32], false],
  ["TL2", 256, 64, [128, 96, 32], false],
  ["TL2", 256, 112, [128, 96, 32], false],
  ["TL2", 256, 640, [128, 384, 32], true],
  ["TL2", 256, 672, [128, 384, 32], false],
];

/** The shapes of matrices whose tiles are published. */
export const publishedShapes: readonly (readonly [rows: number, columns: number])[] = [
  [1536, 4096],
  [1536, 1536],
  [4096, 1536],
  [3200, 8640],
  [3200, 3200],
  [8640, 3200],
  [14_336, 4096],
  [4096, 14_336],
  [1024, 4096],
  [4096, 4096],
];

/** Error of the decoder of a type with lookup tables, or of its rules about tiles, if they give wrong values. */
export function findTableProblem(type: TableType): string | undefined {
  for (const [index, shape] of tableAnswerShapes[type].entries()) {
    const bytes = tableAnswerBytes(type, shape);
    if (usedCodeBytes(type, shape) !== bytes.length) return `a matrix in ${type} uses ${usedCodeBytes(type, shape)} bytes`;
    if (computePatternDigest(unpackTables(type, displaced(bytes), shape)) !== answerTable.tables[type][index])
      return `the decoder of ${type} gives wrong weights for a matrix of ${shape.rows}x${shape.columns}`;
    const limits = type === "TL1" ? [8] : [8, 13];
    for (const limit of limits) {
      const isPair = limit === 8;
      const at = type === "TL1" || !isPair ? 0 : bytes.length - 1;
      for (const wrong of [limit + 1, (limit + 1) << 4]) {
        const damaged = bytes.slice();
        damaged[at] = wrong;
        if (!throws(() => unpackTables(type, damaged, shape))) return `the decoder of ${type} accepts the index ${limit + 1}`;
      }
    }
  }
  for (const [of, rows, columns, bytes, scale] of sizes)
    if (of === type && (tableCodeBytes(type, rows, columns) !== bytes || tableScaleOffset(type, rows, columns) !== scale))
      return `a matrix of ${rows}x${columns} in ${type} has ${tableCodeBytes(type, rows, columns)} bytes`;
  return findTileProblem(type);
}

function findTileProblem(type: TableType): string | undefined {
  for (const [of, rows, columns, [tileRows, tileColumns, registerRows], isRight] of tileFits) {
    const problem = tileProblem(type, { rows, columns, tiles: { rows: tileRows, columns: tileColumns, registerRows } });
    if (of === type && (problem === undefined) !== isRight)
      return `tiles of ${type} for ${rows}x${columns} ${isRight ? "are refused" : "are accepted, and do not fit"}`;
  }
  if (publishedTileDigest(type) !== answerTable.tiles[type] || publishedTiles(type, 1536, 1537) !== undefined)
    return `the published tiles of ${type} are other ones`;
  return findTextProblem();
}

/** A digest of the published tiles of all shapes. */
export function publishedTileDigest(type: TableType): number {
  const getSizes = ([rows, columns]: readonly [number, number]): readonly number[] => {
    const tiles = publishedTiles(type, rows, columns);
    return [tiles?.rows ?? 0, tiles?.columns ?? 0, tiles?.registerRows ?? 0];
  };
  return computePatternDigest(Float32Array.from(publishedShapes.flatMap(getSizes)));
}

/** What is wrong with tiles that are read from text. */
function findTextProblem(): string | undefined {
  const tiles = parseTiles(["3200x8640=160/96/32", " 8x9=1/2/3"]);
  const [first, second] = [tiles.get("3200x8640"), tiles.get("8x9")];
  const isRight =
    tiles.size === 2 &&
    [first?.rows, first?.columns, first?.registerRows].join() === "160,96,32" &&
    [second?.rows, second?.columns, second?.registerRows].join() === "1,2,3" &&
    ["8x9=0/2/3", "8x9=1/2", "8x9"].every((text) => throws(() => parseTiles([text]))) &&
    throws(() => parseTiles(["8x9=1/2/3", "8x9=1/2/3"]));
  return isRight ? undefined : "tiles are read from text in another way than documented";
}

function throws(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
