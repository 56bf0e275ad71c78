/** Types of weights that are -1, 0 or 1 times a scale: TQ1_0 and TQ2_0 of ggml (https://github.com/ggml-org/llama.cpp/pull/8151), and I2_S of BitNet. */
import { type BlockFormat, byteAt, float16At } from "./block-format.ts";

/** Elements of a block of `ternaryBlocks`. */
export type TernaryElements = 128 | 64 | 32;

const base = { elements: 256, groupElements: 256, hasMins: false, codeBits: 2, smallestCode: -1 } as const;

const powersOf3 = [1, 3, 9, 27, 81] as const;

/**
 * Five base-3 digits in one byte. The byte is the number divided by 3^5 and rounded up to 1/256; the digits are the successive integer parts when its fraction
 * is multiplied by 3.
 */
export const tq10: BlockFormat = {
  ...base,
  bytes: 54,
  unpack(bytes, start, block) {
    let element = 0;
    // Elements 0 to 159 in 32 bytes, 160 to 239 in 16 bytes, and 240 to 255 in 4 bytes of four digits.
    for (const [from, count, digits] of [
      [0, 32, 5],
      [32, 16, 5],
      [48, 4, 4],
    ] as const) {
      for (const power of powersOf3.slice(0, digits)) {
        for (let index = 0; index < count; index += 1, element += 1) {
          const rest = (byteAt(bytes, start + from + index) * power) & 0xff;
          block.codes[element] = ((rest * 3) >> 8) - 1;
        }
      }
    }
    block.scale = float16At(bytes, start + 52);
  },
};

/** Of 32 bytes, the lowest two bits are elements 0 to 31, and so on. */
export const tq20: BlockFormat = {
  ...base,
  bytes: 66,
  unpack(bytes, start, block) {
    for (let index = 0; index < 256; index += 1) {
      const byte = byteAt(bytes, start + (index >> 7) * 32 + (index & 31));
      block.codes[index] = ((byte >> (2 * ((index >> 5) & 3))) & 3) - 1;
    }
    block.scale = float16At(bytes, start + 64);
  },
};

/**
 * Blocks that occur in no file, for matrices whose codes have another order: four codes to a byte, the first one in the lowest bits, then the scale of the
 * matrix as float32.
 */
export function ternaryFormat(elements: TernaryElements): BlockFormat {
  return {
    ...base,
    elements,
    groupElements: elements,
    bytes: elements / 4 + 4,
    unpack(bytes, start, block) {
      for (let index = 0; index < elements; index += 1)
        block.codes[index] = ((byteAt(bytes, start + (index >> 2)) >> (2 * (index & 3))) & 3) - 1;
      block.scale = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(start + elements / 4, true);
    },
  };
}

/** Elements of the largest blocks that divide a row; undefined if none do. */
export function ternaryElementsFor(columns: number): TernaryElements | undefined {
  return ([128, 64, 32] as const).find((elements) => columns % elements === 0);
}

/** Blocks of `ternaryFormat(elements)` with these codes, -1, 0 or 1. Their number must be a multiple of `elements`. */
export function ternaryBlocks(codes: Int8Array, scale: number, elements: TernaryElements): Uint8Array {
  const blockBytes = elements / 4 + 4;
  const bytes = new Uint8Array((codes.length / elements) * blockBytes);
  const view = new DataView(bytes.buffer);
  for (let from = 0, to = 0; from < codes.length; from += elements, to += blockBytes) {
    view.setFloat32(to + elements / 4, scale, true);
    for (let index = 0; index < elements; index += 1) {
      const at = to + (index >> 2);
      bytes[at] = byteAt(bytes, at) | (((codes[from + index] as number) + 1) << (2 * (index & 3)));
    }
  }
  return bytes;
}
