/** Types with blocks of 32 elements and one scale: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL; and MXFP4. */
import { type BlockFormat, byteAt, float16At, uint32At, type UnpackedBlock } from "./block-format.ts";

/** Values of the 4-bit codes of IQ4_NL and IQ4_XS. */
export const nonlinearValues: Int8Array = Int8Array.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
/** Twice the values of the 4-bit floats E2M1 (OCP Microscaling Formats 1.0). */
const doubledE2m1 = Int8Array.of(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);

const size = 32;
const half = size / 2;

type Unpack = BlockFormat["unpack"];

function format(codeBits: BlockFormat["codeBits"], smallestCode: number, bytes: number, unpack: Unpack): BlockFormat {
  return { elements: size, bytes, groupElements: size, hasMins: false, codeBits, smallestCode, unpack };
}

/** Sets codes from 4-bit numbers: the low halves of 16 bytes are elements 0 to 15, the high halves 16 to 31. */
function unpackHalves(bytes: Uint8Array, start: number, codes: Int8Array, offset: number): void {
  for (let index = 0; index < half; index += 1) {
    const byte = byteAt(bytes, start + index);
    codes[index] = (byte & 15) + offset;
    codes[index + half] = (byte >> 4) + offset;
  }
}

/** As `unpackHalves`, with the fifth bit of element i in bit i of the number at `high`. */
function unpackFiveBits(bytes: Uint8Array, high: number, codes: Int8Array, offset: number): void {
  unpackHalves(bytes, high + 4, codes, offset);
  const bits = uint32At(bytes, high);
  for (let index = 0; index < size; index += 1) codes[index] = (codes[index] as number) + (((bits >>> index) & 1) << 4);
}

/** As `unpackHalves`, with a table of values. */
function unpackValues(bytes: Uint8Array, start: number, codes: Int8Array, values: Int8Array): void {
  for (let index = 0; index < half; index += 1) {
    const byte = byteAt(bytes, start + index);
    codes[index] = values[byte & 15] as number;
    codes[index + half] = values[byte >> 4] as number;
  }
}

/** A minimum that is added, as a group minimum of 1 times its negative. */
function addMin(block: UnpackedBlock, min: number): void {
  block.minScale = -min;
  block.groupMins[0] = 1;
}

export const q40: BlockFormat = format(4, -8, 18, (bytes, start, block) => {
  block.scale = float16At(bytes, start);
  unpackHalves(bytes, start + 2, block.codes, -8);
});

export const q41: BlockFormat = {
  ...format(4, 0, 20, (bytes, start, block) => {
    block.scale = float16At(bytes, start);
    addMin(block, float16At(bytes, start + 2));
    unpackHalves(bytes, start + 4, block.codes, 0);
  }),
  hasMins: true,
};

export const q50: BlockFormat = format(5, -16, 22, (bytes, start, block) => {
  block.scale = float16At(bytes, start);
  unpackFiveBits(bytes, start + 2, block.codes, -16);
});

export const q51: BlockFormat = {
  ...format(5, 0, 24, (bytes, start, block) => {
    block.scale = float16At(bytes, start);
    addMin(block, float16At(bytes, start + 2));
    unpackFiveBits(bytes, start + 4, block.codes, 0);
  }),
  hasMins: true,
};

export const q80: BlockFormat = format(8, -128, 34, (bytes, start, block) => {
  block.scale = float16At(bytes, start);
  for (let index = 0; index < size; index += 1) block.codes[index] = byteAt(bytes, start + 2 + index);
});

export const iq4nl: BlockFormat = format(8, -128, 18, (bytes, start, block) => {
  block.scale = float16At(bytes, start);
  unpackValues(bytes, start + 2, block.codes, nonlinearValues);
});

export const mxfp4: BlockFormat = format(5, -12, 17, (bytes, start, block) => {
  // Half of the power of two, since the values are doubled.
  block.scale = 2 ** (byteAt(bytes, start) - 128);
  unpackValues(bytes, start + 1, block.codes, doubledE2m1);
});
