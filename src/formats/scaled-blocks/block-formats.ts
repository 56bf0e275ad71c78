/**
 * Blocks of quantized weights with a float32 scale each: `scale * code`, or `scale * code - min`. They are no file format: weights of other files become such blocks
 * while they are loaded. A stored block is the scale, the minimum if there is one (float32, little-endian), then the codes as unsigned integers without the smallest
 * code, lowest bits first.
 */
import { type BlockFormat, byteAt } from "../gguf/blocks/block-format.ts";

/** The parameters of a format. */
export interface ScaledBlockShape {
  readonly bits: 2 | 4 | 8;
  /** Elements of a block: 16, or a multiple of 32. */
  readonly elements: number;
  /** Whether a minimum is subtracted, which may be negative. */
  readonly hasMins: boolean;
}

/** Bytes of a block before its codes. */
export function scaledBlockHeader({ hasMins }: Pick<ScaledBlockShape, "hasMins">): number {
  return hasMins ? 8 : 4;
}

/** Name of a format. Formats of equal names are equal. */
export function scaledBlockName({ bits, elements, hasMins }: ScaledBlockShape): string {
  return `int${bits} of ${elements}${hasMins ? " with minimum" : ""}`;
}

/** The format with these parameters. Codes range from -2^(bits - 1) to 2^(bits - 1) - 1. */
export function scaledBlocks(shape: ScaledBlockShape): BlockFormat {
  const { bits, elements, hasMins } = shape;
  const header = scaledBlockHeader(shape);
  const perByte = 8 / bits;
  const smallestCode = -(2 ** (bits - 1));
  const mask = 2 ** bits - 1;
  return {
    elements,
    bytes: header + elements / perByte,
    groupElements: elements,
    hasMins,
    codeBits: bits,
    smallestCode,
    unpack: (bytes, start, block) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset + start, header);
      block.scale = view.getFloat32(0, true);
      if (hasMins) {
        block.minScale = view.getFloat32(4, true);
        block.groupMins[0] = 1;
      }
      const { codes } = block;
      for (let at = start + header, to = 0; to < elements; at += 1) {
        const byte = byteAt(bytes, at);
        for (let shift = 0; shift < 8; shift += bits, to += 1) codes[to] = ((byte >> shift) & mask) + smallestCode;
      }
    },
  };
}
