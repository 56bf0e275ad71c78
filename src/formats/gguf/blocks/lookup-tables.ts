/**
 * TL1 and TL2 of https://github.com/microsoft/BitNet: weights -1, 0 and 1 as indices into tables of sums of activations ("Bitnet.cpp: Efficient Edge Inference
 * for Ternary LLMs", Wang et al. 2025, arXiv:2502.11880; T-MAC, Wei et al. 2024, arXiv:2407.00088), with one float32 scale for the whole matrix.
 *
 * TL1 stores two neighbouring weights of a row as 3 a + b + 4, in 4 bits. TL2 stores three as the magnitude of 9 a + 3 b + c, in 4 bits, and its sign, in one; the
 * columns after its last whole tile are stored in pairs, as in TL1. The layouts are those of `preprocess_weights_tl1` and `preprocess_weights_tl2` in
 * utils/convert-hf-to-gguf-bitnet.py, which bitnet.cpp multiplies as they lie: TL1 with NEON, TL2 with AVX2. No other layout of either is published.
 */
import { byteAt } from "./block-format.ts";
import type { TableType, TiledShape } from "./tl-tiles.ts";

/** Columns of the last part of TL2 for which every matrix has room, used or not. */
const pairColumns = 256;
/** Columns of a tile of that part. */
const pairTileColumns = 32;

/** Bytes of the codes of a matrix, before the padding to a multiple of 32 and the scale. Converters compute the size of TL2 from the shape alone. */
export function tableCodeBytes(type: TableType, rows: number, columns: number): number {
  if (type === "TL1") return (rows * columns) / 4;
  return Math.floor((Math.floor(((columns - pairColumns) * rows) / 3) * 5) / 8) + (pairColumns * rows) / 4;
}

/** Byte offset of the scale (float32), if it follows the codes. 32 bytes are kept for it. */
export function tableScaleOffset(type: TableType, rows: number, columns: number): number {
  return Math.ceil(tableCodeBytes(type, rows, columns) / 32) * 32;
}

/** Bytes of the codes that a matrix in these tiles really has: at most `tableCodeBytes`. */
export function usedCodeBytes(type: TableType, { rows, columns, tiles }: TiledShape): number {
  if (type === "TL1") return (rows * columns) / 4;
  const pairs = columns % tiles.columns;
  return ((columns - pairs) * rows * 5) / 24 + (pairs * rows) / 4;
}

/**
 * The weights -1, 0 and 1 in row-major order. `bytes` has at least `usedCodeBytes`, and the shape no `tileProblem`. Throws Error for an index that represents
 * no weights: the bytes have another type in this case.
 */
export function unpackTables(type: TableType, bytes: Uint8Array, shape: TiledShape): Int8Array {
  return type === "TL1" ? unpackPairsOfTL1(bytes, shape) : unpackTL2(bytes, shape);
}

function unpackPairsOfTL1(bytes: Uint8Array, { rows, columns, tiles }: TiledShape): Int8Array {
  const { rows: tileRows, columns: tileColumns, registerRows } = tiles;
  const codes = new Int8Array(rows * columns);
  const stepColumns = 256 / registerRows;
  let at = 0;
  for (let row = 0; row < rows; row += tileRows)
    for (let column = 0; column < columns; column += tileColumns)
      for (let register = 0; register < tileRows; register += registerRows)
        for (let step = 0; step < tileColumns; step += stepColumns)
          for (let sixteen = 0; sixteen < registerRows; sixteen += 16)
            for (let four = 0; four < stepColumns; four += 4)
              for (let lane = 0; lane < 16; lane += 1, at += 1)
                storePairs(codes, (row + register + sixteen + lane) * columns + column + step + four, byteAt(bytes, at));
  return codes;
}

/** The order of the groups of 8 rows in a register of TL2: `unpacklo` and `unpackhi` of AVX2 work on halves of 128 bits. */
const groupOrder: Uint8Array = Uint8Array.of(0, 2, 1, 3);

function unpackTL2(bytes: Uint8Array, { rows, columns, tiles }: TiledShape): Int8Array {
  const { rows: tileRows, columns: tileColumns } = tiles;
  const codes = new Int8Array(rows * columns);
  const tripleColumns = columns - (columns % tileColumns);
  const signsAt = (rows * tripleColumns) / 6;
  let at = 0;
  for (let row = 0; row < rows; row += tileRows)
    for (let column = 0; column < tripleColumns; column += tileColumns)
      for (let register = 0; register < tileRows; register += 32)
        for (let step = 0; step < tileColumns; step += 6)
          for (let position = 0; position < 32; position += 1, at += 1) {
            const within = rowAt(position);
            // The signs of 32 rows and 24 columns are 16 numbers of 16 bits: that of row r and triple t is bit 15 - (2 t + floor(r / 16)) of number r mod 16.
            const block = signsAt + 32 * Math.floor((at - position) / 128);
            const triple = 2 * ((step / 6) % 4);
            const signs = byteAt(bytes, block + 2 * (within & 15)) | (byteAt(bytes, block + 2 * (within & 15) + 1) << 8);
            const bit = 15 - (2 * triple + (within >> 4));
            const to = (row + register + within) * columns + column + step;
            const byte = byteAt(bytes, at);
            storeTriple(codes, to, byte >> 4, (signs >> bit) & 1);
            storeTriple(codes, to + 3, byte & 15, (signs >> (bit - 2)) & 1);
          }
  at = (tripleColumns * rows * 5) / 24;
  for (let row = 0; row < rows; row += tileRows)
    for (let column = tripleColumns; column < columns; column += pairTileColumns)
      for (let register = 0; register < tileRows; register += 32)
        for (let step = 0; step < pairTileColumns; step += 4)
          for (let position = 0; position < 32; position += 1, at += 1)
            storePairs(codes, (row + register + rowAt(position)) * columns + column + step, byteAt(bytes, at));
  return codes;
}

/** The row of a register whose index is at a position. */
function rowAt(position: number): number {
  return 8 * byteAt(groupOrder, position >> 3) + (position & 7);
}

/** Four weights from two indices, the first in the upper bits. */
function storePairs(codes: Int8Array, to: number, byte: number): void {
  storePair(codes, to, byte >> 4);
  storePair(codes, to + 2, byte & 15);
}

function storePair(codes: Int8Array, to: number, index: number): void {
  if (index > 8) throw new Error(`index ${index} of two weights is larger than 8`);
  const first = Math.floor(index / 3);
  codes[to] = first - 1;
  codes[to + 1] = index - 3 * first - 1;
}

/** Three weights from the magnitude of 9 a + 3 b + c and its sign. */
function storeTriple(codes: Int8Array, to: number, magnitude: number, isNegative: number): void {
  if (magnitude > 13) throw new Error(`index ${magnitude} of three weights is larger than 13`);
  // 9 a + 3 b + c + 13 has the digits a + 1, b + 1 and c + 1 in base 3.
  const index = 13 + (isNegative === 1 ? -magnitude : magnitude);
  const first = Math.floor(index / 9);
  const second = Math.floor(index / 3) % 3;
  codes[to] = first - 1;
  codes[to + 1] = second - 1;
  codes[to + 2] = (index % 3) - 1;
}
