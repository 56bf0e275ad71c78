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
  const writer = new ColumnWriter(target, layout);
  const supers = k / format.elements;
  target.fill(0);
  for (let column = 0; column < n; column += 1) {
    const panel = Math.floor(column / tileColumns) * blockPanelBytes(layout, k);
    for (let index = 0; index < supers; index += 1) {
      format.unpack(bytes, (column * supers + index) * format.bytes, block);
      writer.write(panel + index * layout.superBytes, column % tileColumns, block);
    }
  }
}

/** Bytes of one column of a group that hold fields of its codes. */
interface FieldBytes {
  readonly bits: 1 | 2 | 4;
  /** Offsets of the bytes of column 0, from the codes of the group on. Those of other columns are 4 bytes further each. */
  readonly offsets: readonly number[];
  /** The elements whose fields a byte holds, from its lowest bits on, byte after byte. */
  readonly elements: Uint8Array;
}

/** The bytes of the fields of `bits` bits whose first vectors begin at `start`. */
function fieldBytes({ groupElements, depth }: BlockLayout, bits: FieldBytes["bits"], start: number): FieldBytes {
  const fields = 8 / bits;
  const places = new Map<number, Uint8Array>();
  for (let element = 0; element < groupElements; element += 1) {
    const [at, shift] = getPlace({ bits, depth, column: 0, element });
    const found = places.get(start + at) ?? new Uint8Array(fields);
    found[shift / bits] = element;
    places.set(start + at, found);
  }
  return { bits, offsets: [...places.keys()], elements: Uint8Array.from([...places.values()].flatMap((each) => [...each])) };
}

/** Writes the blocks of columns. */
class ColumnWriter {
  readonly #layout: BlockLayout;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #low: FieldBytes | undefined;
  readonly #high: FieldBytes | undefined;

  constructor(target: Uint8Array, layout: BlockLayout) {
    const { lowBits, highBits } = layout;
    this.#layout = layout;
    this.#bytes = target;
    this.#view = new DataView(target.buffer, target.byteOffset, target.byteLength);
    this.#low = lowBits === 8 ? undefined : fieldBytes(layout, lowBits, 0);
    this.#high = highBits === 0 ? undefined : fieldBytes(layout, highBits, lowPlaneBytes(layout));
  }

  write(start: number, column: number, block: UnpackedBlock): void {
    const { superElements, groupElements, groupBytes, groupHeaderBytes, headerBytes, hasGroupScales, hasMins } = this.#layout;
    const view = this.#view;
    view.setFloat32(start + 4 * column, block.scale, true);
    // If groups have no separate minima, the minimum of the super-block is one times its scale.
    if (hasMins) view.setFloat32(start + 4 * (tileColumns + column), block.minScale, true);
    const groups = superElements / groupElements;
    for (let group = 0; group < groups; group += 1) {
      const at = start + headerBytes + group * groupBytes;
      if (hasGroupScales) {
        view.setInt8(at + column, block.groupScales[group] as number);
        if (hasMins) view.setUint8(at + tileColumns + column, block.groupMins[group] as number);
      }
      const codes = at + groupHeaderBytes;
      const first = group * groupElements;
      if (this.#low === undefined) this.#writeBytes(codes + 2 * column, block.codes, first);
      else this.#writeFields(codes + 4 * column, block.codes, first, this.#low, 0);
      if (this.#high !== undefined) this.#writeFields(codes + 4 * column, block.codes, first, this.#high, this.#layout.lowBits);
    }
  }

  #writeBytes(start: number, codes: Int8Array, first: number): void {
    const bytes = this.#bytes;
    const { groupElements } = this.#layout;
    for (let element = 0; element < groupElements; element += 2) {
      const at = start + element * tileColumns;
      bytes[at] = codes[first + element] as number;
      bytes[at + 1] = codes[first + element + 1] as number;
    }
  }

  /** Writes bits of the codes, from number `shift` on, that fit the fields. */
  #writeFields(start: number, codes: Int8Array, first: number, { bits, offsets, elements }: FieldBytes, shift: number): void {
    const bytes = this.#bytes;
    const { smallestCode } = this.#layout;
    const mask = 2 ** bits - 1;
    let index = 0;
    for (const offset of offsets) {
      let byte = 0;
      for (let bit = 0; bit < 8; bit += bits, index += 1) {
        const code = (codes[first + (elements[index] as number)] as number) - smallestCode;
        byte |= ((code >> shift) & mask) << bit;
      }
      bytes[start + offset] = byte;
    }
  }
}

interface Field {
  readonly bits: 1 | 2 | 4;
  readonly depth: BlockLayout["depth"];
  readonly column: number;
  readonly element: number;
}

/** Byte offset of the byte that holds a code, and the position of the code in it. */
function getPlace({ bits, depth, column, element }: Field): readonly [at: number, shift: number] {
  const laneBits = 32 / depth;
  const fields = laneBits / bits;
  const step = Math.floor(element / depth);
  const vector = Math.floor(step / fields) * 2 + (column >> 2);
  const bit = laneBits * (element % depth) + (step % fields) * bits;
  return [vector * 16 + 4 * (column & 3) + (bit >> 3), bit & 7];
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
