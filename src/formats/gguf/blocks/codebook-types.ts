/** "IQ" types, whose codes are indices into codebooks of vectors of 4 or 8 elements (https://github.com/ggml-org/llama.cpp/pull/4773). */
import { type BlockFormat, byteAt, float16At, uint16At, uint32At } from "./block-format.ts";
import * as codebooks from "./codebooks.ts";

const base = { elements: 256, hasMins: false, codeBits: 8, smallestCode: -128 } as const;

/** Copies the vector `index` of a codebook of vectors of `size` elements, negating those whose bit is set in `signs`. */
function copyVector(from: Int8Array, index: number, size: number, signs: number, to: Int8Array, at: number): void {
  for (let element = 0; element < size; element += 1) {
    const value = from[index * size + element] as number;
    to[at + element] = (signs >> element) & 1 ? -value : value;
  }
}

/** Signs of 8 elements from 7 bits: the eighth makes the number of negative ones even. */
function evenSigns(bits: number): number {
  let parity = bits;
  for (const shift of [4, 2, 1]) parity ^= parity >> shift;
  return bits | ((parity & 1) << 7);
}

/** Group scales are odd numbers of eighths: d * (0.5 + s) / 4 = d / 8 * (2 s + 1). */
export const iq2xxsType: BlockFormat = {
  ...base,
  bytes: 66,
  groupElements: 32,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start) / 8;
    for (let group = 0; group < 8; group += 1) {
      const at = start + 2 + group * 8;
      const packed = uint32At(bytes, at + 4);
      block.groupScales[group] = 2 * (packed >>> 28) + 1;
      for (let part = 0; part < 4; part += 1)
        copyVector(
          codebooks.iq2xxs(),
          byteAt(bytes, at + part),
          8,
          evenSigns((packed >>> (7 * part)) & 127),
          block.codes,
          group * 32 + part * 8,
        );
    }
  },
};

export const iq2xsType: BlockFormat = {
  ...base,
  bytes: 74,
  groupElements: 16,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start) / 8;
    for (let part = 0; part < 32; part += 1) {
      const packed = uint16At(bytes, start + 2 + 2 * part);
      copyVector(codebooks.iq2xs(), packed & 511, 8, evenSigns(packed >> 9), block.codes, part * 8);
    }
    unpackOddScales(bytes, start + 66, 16, block.groupScales);
  },
};

/** Scales of 4 bits, two to a byte, as odd numbers. */
function unpackOddScales(bytes: Uint8Array, start: number, groups: number, scales: Int8Array): void {
  for (let group = 0; group < groups; group += 1)
    scales[group] = 2 * ((byteAt(bytes, start + (group >> 1)) >> (4 * (group & 1))) & 15) + 1;
}

export const iq2sType: BlockFormat = {
  ...base,
  bytes: 82,
  groupElements: 16,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start) / 8;
    for (let part = 0; part < 32; part += 1) {
      const high = (byteAt(bytes, start + 66 + (part >> 2)) >> (2 * (part & 3))) & 3;
      const index = byteAt(bytes, start + 2 + part) | (high << 8);
      copyVector(codebooks.iq2s(), index, 8, byteAt(bytes, start + 34 + part), block.codes, part * 8);
    }
    unpackOddScales(bytes, start + 74, 16, block.groupScales);
  },
};

/** d * (0.5 + s) / 2 = d / 4 * (2 s + 1). */
export const iq3xxsType: BlockFormat = {
  ...base,
  bytes: 98,
  groupElements: 32,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start) / 4;
    for (let group = 0; group < 8; group += 1) {
      const packed = uint32At(bytes, start + 66 + 4 * group);
      block.groupScales[group] = 2 * (packed >>> 28) + 1;
      for (let part = 0; part < 8; part += 1) {
        const signs = evenSigns((packed >>> (7 * (part >> 1))) & 127) >> (4 * (part & 1));
        copyVector(codebooks.iq3xxs(), byteAt(bytes, start + 2 + group * 8 + part), 4, signs, block.codes, group * 32 + part * 4);
      }
    }
  },
};

export const iq3sType: BlockFormat = {
  ...base,
  bytes: 110,
  groupElements: 32,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start);
    for (let part = 0; part < 64; part += 1) {
      const high = (byteAt(bytes, start + 66 + (part >> 3)) >> (part & 7)) & 1;
      const signs = byteAt(bytes, start + 74 + (part >> 1)) >> (4 * (part & 1));
      copyVector(codebooks.iq3s(), byteAt(bytes, start + 2 + part) | (high << 8), 4, signs, block.codes, part * 4);
    }
    unpackOddScales(bytes, start + 106, 8, block.groupScales);
  },
};

/** Sets 8 codes to 8 times a vector of -1, 0 and 1, plus or minus 1. */
function copyShifted(from: Int8Array, index: number, isNegative: boolean, to: Int8Array, at: number): void {
  for (let element = 0; element < 8; element += 1)
    to[at + element] = 8 * (from[index * 8 + element] as number) + (isNegative ? -1 : 1);
}

/** Elements are shifted by 1/8 up or down, so that eighths of the scale are the unit. */
export const iq1sType: BlockFormat = {
  ...base,
  bytes: 50,
  groupElements: 32,
  unpack(bytes, start, block) {
    block.scale = float16At(bytes, start) / 8;
    for (let group = 0; group < 8; group += 1) {
      const packed = uint16At(bytes, start + 34 + 2 * group);
      block.groupScales[group] = 2 * ((packed >> 12) & 7) + 1;
      for (let part = 0; part < 4; part += 1) {
        const index = byteAt(bytes, start + 2 + group * 4 + part) | (((packed >> (3 * part)) & 7) << 8);
        copyShifted(codebooks.iq1s(), index, (packed & 0x8000) !== 0, block.codes, group * 32 + part * 8);
      }
    }
  },
};

/** The float16 scale of the block is spread over the upper 4 bits of four 16-bit numbers, which also hold 16 group scales of 3 bits. */
export const iq1m: BlockFormat = {
  ...base,
  bytes: 56,
  groupElements: 16,
  unpack(bytes, start, block) {
    const packed = (part: number): number => uint16At(bytes, start + 48 + 2 * part);
    const bits = [0, 1, 2, 3].reduce((all, part) => all | ((packed(part) >> 12) << (4 * part)), 0);
    block.scale = float16At(Uint8Array.of(bits & 255, bits >> 8), 0) / 8;
    for (let group = 0; group < 16; group += 1)
      block.groupScales[group] = 2 * ((packed(group >> 2) >> (3 * (group & 3))) & 7) + 1;
    for (let part = 0; part < 32; part += 1) {
      const high = byteAt(bytes, start + 32 + (part >> 1)) >> (4 * (part & 1));
      copyShifted(codebooks.iq1s(), byteAt(bytes, start + part) | ((high & 7) << 8), (high & 8) !== 0, block.codes, part * 8);
    }
  },
};
