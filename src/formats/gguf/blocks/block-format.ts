/**
 * Quantized blocks of ggml as integers. Each type stores a number of elements as small integer codes, with one scale for all elements of a block and, in
 * some types, a small integer factor of it for each group of elements. Every type can be written as
 *
 *     element = scale * groupScale * code - minScale * groupMin
 *
 * with the products rounded to float32 from left to right, which gives bit for bit what gguf-py's `dequantize` gives. Sources of the layouts:
 * ggml-common.h and ggml-quants.c of https://github.com/ggml-org/ggml, and gguf-py/gguf/quants.py of https://github.com/ggml-org/llama.cpp.
 */

/** The layout of the blocks of one type. */
export interface BlockFormat {
  /** Elements of a block. */
  readonly elements: number;
  /** Bytes of a block. */
  readonly bytes: number;
  /** Neighbouring elements that share a group scale and a group minimum. */
  readonly groupElements: number;
  /** Whether a group minimum is subtracted. */
  readonly hasMins: boolean;
  /** Bits that hold the difference of any code from `smallestCode`. */
  readonly codeBits: 2 | 3 | 4 | 5 | 6 | 8;
  readonly smallestCode: number;
  /** Reads the block that begins at byte `start`. */
  unpack(bytes: Uint8Array, start: number, target: UnpackedBlock): void;
}

/** One block as integers and scales. The arrays are reused from block to block. */
export interface UnpackedBlock {
  /** One code for each element. */
  readonly codes: Int8Array;
  scale: number;
  /** Factor of `scale`, one for each group. */
  readonly groupScales: Int8Array;
  minScale: number;
  /** Factor of `minScale`, one for each group. */
  readonly groupMins: Uint8Array;
}

/** An unpacked block of a format, whose group scales are 1 and minima 0. */
export function unpackedBlock({ elements, groupElements }: BlockFormat): UnpackedBlock {
  const groups = elements / groupElements;
  return {
    codes: new Int8Array(elements),
    scale: 0,
    groupScales: new Int8Array(groups).fill(1),
    minScale: 0,
    groupMins: new Uint8Array(groups),
  };
}

/** Decodes whole blocks to float32. `target` has the elements of all blocks in `bytes`. */
export function decodeBlocks(format: BlockFormat, bytes: Uint8Array, target: Float32Array): void {
  const { elements, bytes: blockBytes, groupElements, hasMins } = format;
  const block = unpackedBlock(format);
  const { codes, groupScales, groupMins } = block;
  const blocks = target.length / elements;
  for (let index = 0, to = 0; index < blocks; index += 1) {
    format.unpack(bytes, index * blockBytes, block);
    for (let group = 0, from = 0; from < elements; group += 1) {
      const scale = Math.fround(block.scale * (groupScales[group] as number));
      const min = Math.fround(block.minScale * (groupMins[group] as number));
      const end = from + groupElements;
      // Storing in a Float32Array rounds the last operation.
      if (!hasMins) for (; from < end; from += 1, to += 1) target[to] = scale * (codes[from] as number);
      else for (; from < end; from += 1, to += 1) target[to] = Math.fround(scale * (codes[from] as number)) - min;
    }
  }
}

/** The float16 at byte `at`. */
export function float16At(bytes: Uint8Array, at: number): number {
  const bits = uint16At(bytes, at);
  const fraction = bits & 0x3ff;
  const exponent = (bits >> 10) & 0x1f;
  const magnitude =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** The little-endian unsigned 16-bit integer at byte `at`. */
export function uint16At(bytes: Uint8Array, at: number): number {
  return byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8);
}

/** The little-endian unsigned 32-bit integer at byte `at`. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return (uint16At(bytes, at) | (uint16At(bytes, at + 2) << 16)) >>> 0;
}

/** The byte at `at`; 0 after the end. */
export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
