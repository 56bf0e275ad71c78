/**
 * I2_S of https://github.com/microsoft/BitNet: 2-bit codes 0, 1 and 2 for -1, 0 and 1, and one float32 scale for the whole tensor after them. The order of the
 * codes depends on the machine that wrote the file, which the file does not state.
 */
import { type BlockFormat, byteAt } from "./block-format.ts";

/**
 * Order of the codes, which depends on how the program that wrote the file was built. In each, bit pairs are filled from the highest to the lowest. Source:
 * `quantize_i2_s` in src/ggml-bitnet-mad.cpp of BitNet.
 *
 * - "x86": 128 elements in 32 bytes; element j is in byte j mod 32, at shift 6 - 2 * floor(j / 32). Microsoft's models and converters have it.
 * - "x86-interleaved": a byte holds the elements of one column in four neighbouring rows, the first row in the highest bits. x86 without ACT_PARALLEL.
 * - "arm": 64 elements in 16 bytes; element j is in byte j mod 16, at shift 6 - 2 * floor(j / 16). NEON.
 */
export type I2SLayout = "x86" | "x86-interleaved" | "arm";

/** All layouts, the most frequent first. */
export const i2sLayouts: readonly I2SLayout[] = ["x86", "x86-interleaved", "arm"];

/** Elements of a group of codes, where elements are in groups. */
const groupSizes = { x86: 128, arm: 64 } as const;

/** A tensor `[rows, columns]` in I2_S. */
export interface I2SShape {
  readonly rows: number;
  readonly columns: number;
  readonly layout: I2SLayout;
}

/** Elements and bytes of a group of codes of the layout "x86". */
const groupElements = 128;
const groupBytes: number = groupElements / 4;

/** Blocks of 128 elements: their codes in the layout "x86", then the scale of the tensor. Files have the scale once; `i2sBlocks` repeats it. */
export const i2s: BlockFormat = {
  elements: groupElements,
  bytes: groupBytes + 4,
  groupElements,
  hasMins: false,
  codeBits: 2,
  smallestCode: -1,
  unpack(bytes, start, block) {
    for (let index = 0; index < groupElements; index += 1)
      block.codes[index] = ((byteAt(bytes, start + (index & 31)) >> (6 - 2 * (index >> 5))) & 3) - 1;
    block.scale = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(start + groupBytes, true);
  },
};

/** A tensor as blocks of `i2s`. Its number of elements must be a multiple of the block size. */
export function i2sBlocks(bytes: Uint8Array, shape: I2SShape): Uint8Array {
  const elements = shape.rows * shape.columns;
  const codes = shape.layout === "x86" ? bytes : reordered(bytes, shape);
  const groups = elements / groupElements;
  const scale = bytes.subarray(elements / 4, elements / 4 + 4);
  const blocks = new Uint8Array(groups * i2s.bytes);
  for (let group = 0; group < groups; group += 1) {
    blocks.set(codes.subarray(group * groupBytes, (group + 1) * groupBytes), group * i2s.bytes);
    blocks.set(scale, group * i2s.bytes + groupBytes);
  }
  return blocks;
}

/** The codes of a tensor in the layout "x86". */
function reordered(bytes: Uint8Array, { rows, columns, layout }: I2SShape): Uint8Array {
  const codes = new Uint8Array((rows * columns) / 4);
  const from = positionIn(layout, columns);
  const to = positionIn("x86", columns);
  for (let index = 0; index < rows * columns; index += 1) {
    const [source, target] = [from(index), to(index)];
    const code = (byteAt(bytes, source.byte) >> source.shift) & 3;
    codes[target.byte] = byteAt(codes, target.byte) | (code << target.shift);
  }
  return codes;
}

/** Bytes of a tensor of `elements` elements: its codes, and 32 bytes that begin with the scale. */
export function i2sBytes(elements: number): number {
  return Math.ceil(elements / 4) + 32;
}

/** The codes minus 1, in row-major order, and the scale of a tensor `[rows, columns]`. */
export function unpackI2S(
  bytes: Uint8Array,
  { rows, columns, layout }: I2SShape,
): { readonly codes: Int8Array; readonly scale: number } {
  const elements = rows * columns;
  const codes = new Int8Array(elements);
  const placeOf = positionIn(layout, columns);
  for (let index = 0; index < elements; index += 1) {
    const { byte, shift } = placeOf(index);
    codes[index] = ((byteAt(bytes, byte) >> shift) & 3) - 1;
  }
  const scale = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat32(elements / 4, true);
  return { codes, scale };
}

/** The elements of a tensor `[rows, columns]` as float32. */
export function decodeI2S(bytes: Uint8Array, shape: I2SShape): Float32Array {
  const { codes, scale } = unpackI2S(bytes, shape);
  return Float32Array.from(codes, (code) => code * scale);
}

/** Whether a tensor of this shape can be stored in a layout. */
export function fitsI2SLayout(layout: I2SLayout, rows: number, columns: number): boolean {
  return layout === "x86-interleaved" ? rows % 4 === 0 : (rows * columns) % groupSizes[layout] === 0;
}

/** Where the code of an element is. */
function positionIn(layout: I2SLayout, columns: number): (index: number) => { readonly byte: number; readonly shift: number } {
  if (layout === "x86-interleaved") {
    return (index) => {
      const [row, column] = [Math.floor(index / columns), index % columns];
      return { byte: (row >> 2) * columns + column, shift: 6 - 2 * (row & 3) };
    };
  }
  const group = groupSizes[layout];
  const bytes = group / 4;
  return (index) => {
    const within = index % group;
    return { byte: Math.floor(index / group) * bytes + (within % bytes), shift: 6 - 2 * Math.floor(within / bytes) };
  };
}
