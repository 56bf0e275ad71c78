/**
 * "K" types: blocks of 256 elements in groups of 16 or 32, with group scales of 4, 6 or 8 bits
 * (https://github.com/ggml-org/llama.cpp/pull/1684). Also IQ4_XS, which has the same structure.
 */
import { type BlockFormat, byteAt, float16At, uint16At } from "./block-format.ts";
import { nonlinearValues } from "./blocks-of-32.ts";

/** Elements of a block. */
export const superBlock = 256;

const base = { elements: superBlock, hasMins: false } as const;

export const q2k: BlockFormat = {
  ...base,
  bytes: 84,
  groupElements: 16,
  hasMins: true,
  codeBits: 2,
  smallestCode: 0,
  unpack(bytes, start, block) {
    for (let group = 0; group < 16; group += 1) {
      const byte = byteAt(bytes, start + group);
      block.groupScales[group] = byte & 15;
      block.groupMins[group] = byte >> 4;
    }
    unpackTwoBits(bytes, start + 16, block.codes);
    block.scale = float16At(bytes, start + 80);
    block.minScale = float16At(bytes, start + 82);
  },
};

export const q3k: BlockFormat = {
  ...base,
  bytes: 110,
  groupElements: 16,
  codeBits: 3,
  smallestCode: -4,
  unpack(bytes, start, block) {
    unpackTwoBits(bytes, start + 32, block.codes);
    for (let index = 0; index < superBlock; index += 1) {
      // Bit i / 32 of byte i % 32: without it, 4 is subtracted.
      const isHigh = (byteAt(bytes, start + (index & 31)) >> (index >> 5)) & 1;
      if (isHigh === 0) block.codes[index] = (block.codes[index] as number) - 4;
    }
    for (let group = 0; group < 16; group += 1) {
      const low = byteAt(bytes, start + 96 + (group & 7)) >> (group < 8 ? 0 : 4);
      const high = byteAt(bytes, start + 104 + (group & 3)) >> (2 * (group >> 2));
      block.groupScales[group] = ((low & 15) | ((high & 3) << 4)) - 32;
    }
    block.scale = float16At(bytes, start + 108);
  },
};

/** Two-bit codes: of 32 bytes, the lowest two bits are elements 0 to 31, the next two 32 to 63, and so on. */
function unpackTwoBits(bytes: Uint8Array, start: number, codes: Int8Array): void {
  for (let index = 0; index < superBlock; index += 1) {
    const byte = byteAt(bytes, start + (index >> 7) * 32 + (index & 31));
    codes[index] = (byte >> (2 * ((index >> 5) & 3))) & 3;
  }
}

export const q4k: BlockFormat = {
  ...base,
  bytes: 144,
  groupElements: 32,
  hasMins: true,
  codeBits: 4,
  smallestCode: 0,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start);
    block.minScale = float16At(bytes, start + 2);
    unpackSixBitScales(bytes, start + 4, block.groupScales, block.groupMins);
    unpackFourBits(bytes, start + 16, block.codes);
  },
};

export const q5k: BlockFormat = {
  ...base,
  bytes: 176,
  groupElements: 32,
  hasMins: true,
  codeBits: 5,
  smallestCode: 0,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start);
    block.minScale = float16At(bytes, start + 2);
    unpackSixBitScales(bytes, start + 4, block.groupScales, block.groupMins);
    unpackFourBits(bytes, start + 48, block.codes);
    for (let index = 0; index < superBlock; index += 1) {
      const high = (byteAt(bytes, start + 16 + (index & 31)) >> (index >> 5)) & 1;
      block.codes[index] = (block.codes[index] as number) + (high << 4);
    }
  },
};

/** Eight scales and eight minima of 6 bits in 12 bytes: `get_scale_min_k4` of ggml-quants.c. */
function unpackSixBitScales(bytes: Uint8Array, start: number, scales: Int8Array, mins: Uint8Array): void {
  for (let group = 0; group < 4; group += 1) {
    const [scale, min, both] = [0, 4, 8].map((offset) => byteAt(bytes, start + offset + group)) as [number, number, number];
    scales[group] = scale & 63;
    mins[group] = min & 63;
    scales[group + 4] = (both & 15) | ((scale >> 6) << 4);
    mins[group + 4] = (both >> 4) | ((min >> 6) << 4);
  }
}

/** Four-bit codes: of 32 bytes, the low halves are elements 0 to 31, the high halves 32 to 63. */
function unpackFourBits(bytes: Uint8Array, start: number, codes: Int8Array): void {
  for (let index = 0; index < superBlock; index += 1) {
    const byte = byteAt(bytes, start + (index >> 6) * 32 + (index & 31));
    codes[index] = index & 32 ? byte >> 4 : byte & 15;
  }
}

export const q6k: BlockFormat = {
  ...base,
  bytes: 210,
  groupElements: 16,
  codeBits: 6,
  smallestCode: -32,
  unpack(bytes, start, block) {
    for (let index = 0; index < superBlock; index += 1) {
      const half = index >> 7;
      const low = byteAt(bytes, start + half * 64 + (index & 63));
      const high = byteAt(bytes, start + 128 + half * 32 + (index & 31)) >> (2 * ((index >> 5) & 3));
      block.codes[index] = ((index & 64 ? low >> 4 : low & 15) | ((high & 3) << 4)) - 32;
    }
    for (let group = 0; group < 16; group += 1) block.groupScales[group] = byteAt(bytes, start + 192 + group);
    block.scale = float16At(bytes, start + 208);
  },
};

export const iq4xs: BlockFormat = {
  ...base,
  bytes: 136,
  groupElements: 32,
  codeBits: 8,
  smallestCode: -128,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start);
    const high = uint16At(bytes, start + 2);
    for (let group = 0; group < 8; group += 1) {
      const low = byteAt(bytes, start + 4 + (group >> 1)) >> (4 * (group & 1));
      block.groupScales[group] = ((low & 15) | (((high >> (2 * group)) & 3) << 4)) - 32;
      for (let index = 0; index < 16; index += 1) {
        const byte = byteAt(bytes, start + 8 + group * 16 + index);
        block.codes[group * 32 + index] = nonlinearValues[byte & 15] as number;
        block.codes[group * 32 + index + 16] = nonlinearValues[byte >> 4] as number;
      }
    }
  },
};
