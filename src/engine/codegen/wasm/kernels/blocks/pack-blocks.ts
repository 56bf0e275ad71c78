/** Packs quantized blocks for `blockMatmul`, and restores their values. */
import { type BlockFormat, type UnpackedBlock, unpackedBlock } from "../../../../../formats/gguf/blocks/block-format.ts";
import { tileColumns } from "../matmul/micro-kernel.ts";
import { type BlockLayout, blockLayout, lowPlaneBytes, blockPanelBytes } from "./block-layout.ts";

/** Weights [k, n] as n rows of k elements in blocks. */
export interface StoredBlocks {
  readonly format: BlockFormat;
  readonly k: number;
  readonly n: number;
  /** The rows one after the other. */
  readonly bytes: Uint8Array;
}

/** Writes the packed weights to `target`, which has `packedBlockBytes` bytes. */
export function packBlocks(target: Uint8Array, { format, k, n, bytes }: StoredBlocks): void {
  const layout = blockLayout(format);
  const block = unpackedBlock(format);
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const supers = k / format.elements;
  target.fill(0);
  for (let column = 0; column < n; column += 1) {
    const panel = Math.floor(column / tileColumns) * blockPanelBytes(layout, k);
    for (let index = 0; index < supers; index += 1) {
      format.unpack(bytes, (column * supers + index) * format.bytes, block);
      writeColumn(view, panel + index * layout.superBytes, layout, column % tileColumns, block);
    }
  }
}

function writeColumn(view: DataView, start: number, layout: BlockLayout, column: number, block: UnpackedBlock): void {
  const { groupElements, groupBytes, groupHeaderBytes, headerBytes, hasGroupScales, hasMins } = layout;
  const { lowBits, highBits, depth, smallestCode } = layout;
  view.setFloat32(start + 4 * column, block.scale, true);
  // If groups have no separate minima, the minimum of the super-block is one times its scale.
  if (hasMins) view.setFloat32(start + 4 * (tileColumns + column), block.minScale, true);
  const groups = layout.superElements / groupElements;
  for (let group = 0; group < groups; group += 1) {
    const at = start + headerBytes + group * groupBytes;
    if (hasGroupScales) {
      view.setInt8(at + column, block.groupScales[group] as number);
      if (hasMins) view.setUint8(at + tileColumns + column, block.groupMins[group] as number);
    }
    const codes = at + groupHeaderBytes;
    for (let element = 0; element < groupElements; element += 1) {
      const code = (block.codes[group * groupElements + element] as number) - smallestCode;
      if (lowBits === 8) view.setInt8(codes + (element >> 1) * 16 + 2 * column + (element & 1), code);
      else {
        orField(view, codes, { bits: lowBits, depth, column, element, value: code & (2 ** lowBits - 1) });
        if (highBits !== 0)
          orField(view, codes + lowPlaneBytes(layout), { bits: highBits, depth, column, element, value: code >> lowBits });
      }
    }
  }
}

interface Field {
  readonly bits: 1 | 2 | 4;
  readonly depth: BlockLayout["depth"];
  readonly column: number;
  readonly element: number;
  readonly value: number;
}

/** Byte offset of the byte that holds a code, and the position of the code in it. */
function getPlace({ bits, depth, column, element }: Omit<Field, "value">): readonly [at: number, shift: number] {
  const laneBits = 32 / depth;
  const fields = laneBits / bits;
  const step = Math.floor(element / depth);
  const vector = Math.floor(step / fields) * 2 + (column >> 2);
  const bit = laneBits * (element % depth) + (step % fields) * bits;
  return [vector * 16 + 4 * (column & 3) + (bit >> 3), bit & 7];
}

function orField(view: DataView, start: number, field: Field): void {
  const [at, shift] = getPlace(field);
  view.setUint8(start + at, view.getUint8(start + at) | (field.value << shift));
}

/** The values of packed weights as [k, n], bit-identical with the blocks' values. */
export function unpackBlocks(packed: Uint8Array, { format, k, n }: Omit<StoredBlocks, "bytes">): Float32Array<ArrayBuffer> {
  const layout = blockLayout(format);
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const values = new Float32Array(k * n);
  for (let column = 0; column < n; column += 1) {
    const panel = Math.floor(column / tileColumns) * blockPanelBytes(layout, k);
    for (let row = 0; row < k; row += 1) values[row * n + column] = valueAt(view, panel, layout, column % tileColumns, row);
  }
  return values;
}

function valueAt(view: DataView, panel: number, layout: BlockLayout, column: number, row: number): number {
  const { superElements, superBytes, groupElements, groupBytes, groupHeaderBytes, headerBytes, hasGroupScales, hasMins } = layout;
  const start = panel + Math.floor(row / superElements) * superBytes;
  const within = row % superElements;
  const at = start + headerBytes + Math.floor(within / groupElements) * groupBytes;
  const scale = view.getFloat32(start + 4 * column, true) * (hasGroupScales ? view.getInt8(at + column) : 1);
  const product = Math.fround(scale) * codeAt(view, at + groupHeaderBytes, layout, column, within % groupElements);
  if (!hasMins) return product;
  const min = view.getFloat32(start + 4 * (tileColumns + column), true);
  return Math.fround(product) - Math.fround(min * (hasGroupScales ? view.getUint8(at + tileColumns + column) : 1));
}

function codeAt(view: DataView, codes: number, layout: BlockLayout, column: number, element: number): number {
  const { lowBits, highBits, depth, smallestCode } = layout;
  if (lowBits === 8) return view.getInt8(codes + (element >> 1) * 16 + 2 * column + (element & 1));
  const field = (start: number, bits: 1 | 2 | 4): number => {
    const [at, shift] = getPlace({ bits, depth, column, element });
    return (view.getUint8(start + at) >> shift) & (2 ** bits - 1);
  };
  const low = field(codes, lowBits);
  return (highBits === 0 ? low : low | (field(codes + lowPlaneBytes(layout), highBits) << lowBits)) + smallestCode;
}
