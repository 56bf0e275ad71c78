/**
 * The layout of quantized weights for `blockMatmul`, and of the activations that it multiplies them with.
 *
 * Weights [k, n] are divided into panels of 8 columns. A panel holds its super-blocks (`elements` of the format) one after the other:
 *
 * - the scales of the columns, 8 float32, and with minima 8 more;
 * - for each group of k: the group scales of the columns, 8 int8, if the format has any, and the group minima, 8 uint8, if it has any;
 *   then the codes, without the smallest code. Codes of 4 or 2 bits are divided among the 16-bit lanes of vectors: lane 2 c + p has those of column c whose k has
 *   parity p, for the first pair of k in its lowest bits. Codes of 5 and 6 bits have their upper bits in vectors of their own. Codes of 8 bits are bytes, pair by pair of k.
 *   Ternary codes are divided among bytes: byte 4 c + q has those of column c whose k is q modulo 4.
 *
 * Activations are quantized by groups of 32 neighbouring k: int16, then their scale and their sums. For ternary weights, they are quantized by super-blocks: int8,
 * then their scale and their sum, as BitNet models are trained for (Ma et al. 2024) and as ggml multiplies TQ1_0 and TQ2_0.
 */
import type { BlockFormat } from "../../../../../formats/gguf/blocks/block-format.ts";
import { tileColumns } from "../matmul/micro-kernel.ts";

/** The part of a format that the layout depends on. */
export type BlockShape = Pick<BlockFormat, "elements" | "groupElements" | "hasMins" | "codeBits" | "smallestCode">;

/** Sizes of packed weights of one format. */
export interface BlockLayout {
  /** Elements of a super-block along k, which share a scale: 16, or a multiple of 32. */
  readonly superElements: number;
  /** Elements of a group along k: 16 or 32. */
  readonly groupElements: 16 | 32;
  /** Whether each group has a factor of the scale. */
  readonly hasGroupScales: boolean;
  readonly hasMins: boolean;
  /** Bits of a code in its first and in its second vector. 8: signed bytes. */
  readonly lowBits: 2 | 4 | 8;
  readonly highBits: 0 | 1 | 2;
  /** Neighbouring k of a column whose codes share a 32-bit lane: 2 as 16-bit integers, or 4 as bytes for ternary weights. */
  readonly depth: 2 | 4;
  /** Offset of stored codes of fewer than 8 bits, which is added when they are read. */
  readonly smallestCode: number;
  readonly headerBytes: number;
  /** Bytes of the group scales and minima before the codes of a group. */
  readonly groupHeaderBytes: number;
  readonly groupBytes: number;
  readonly superBytes: number;
}

/** Elements of k that share the scale of 16-bit activations. */
export const activationGroup = 32;
/** Byte offset of the scale (float32) in the activations of a group. */
export const activationScaleOffset: number = 2 * activationGroup;
/** Byte offsets of the sums (int32) of elements 0 to 15, of elements 16 to 31 and of all. */
export const activationSumOffsets: readonly [number, number, number] = [
  activationScaleOffset + 4,
  activationScaleOffset + 8,
  activationScaleOffset + 12,
];
/** Bytes of the 16-bit activations of a group. */
export const activationGroupBytes: number = activationScaleOffset + 16;

/** Bytes of 8-bit activations of `elements` neighbouring k: the codes, their scale (float32) and their sum (int32). */
export function byteActivationGroupBytes(elements: number): number {
  return elements + 8;
}

/** Bytes of a row of k activations, quantized for weights of a layout. */
export function activationRowBytes({ depth, superElements }: Pick<BlockLayout, "depth" | "superElements">, k: number): number {
  return depth === 4
    ? (k / superElements) * byteActivationGroupBytes(superElements)
    : (k / activationGroup) * activationGroupBytes;
}

/** Elements of a super-block whose products of int8 activations (at most 127) and codes (at most 2) can be summed in 16 bits: two sums of 2 * 127 * 2 for 4 elements. */
const maxByteActivationGroup = 256;

const planes: Readonly<Record<BlockFormat["codeBits"], readonly [low: 2 | 4 | 8, high: 0 | 1 | 2]>> = {
  2: [2, 0],
  3: [4, 0],
  4: [4, 0],
  5: [4, 1],
  6: [4, 2],
  8: [8, 0],
};

/** The layout of a format's weights. */
export function blockLayout({ elements, groupElements: stored, hasMins, codeBits, smallestCode }: BlockShape): BlockLayout {
  const groupElements = stored < 32 ? 16 : 32;
  const [lowBits, highBits] = planes[codeBits];
  const hasGroupScales = stored < elements;
  const headerBytes = tileColumns * 4 * (hasMins ? 2 : 1);
  const groupHeaderBytes = hasGroupScales ? tileColumns * (hasMins ? 2 : 1) : 0;
  const codeBytes = (groupElements * tileColumns * (lowBits + highBits)) / 8;
  const groupBytes = groupHeaderBytes + codeBytes;
  const isTernary = codeBits === 2 && smallestCode === -1 && !hasGroupScales && !hasMins && elements <= maxByteActivationGroup;
  return {
    superElements: elements,
    groupElements,
    hasGroupScales,
    hasMins,
    lowBits,
    highBits,
    depth: isTernary ? 4 : 2,
    smallestCode: lowBits === 8 ? 0 : smallestCode,
    headerBytes,
    groupHeaderBytes,
    groupBytes,
    superBytes: headerBytes + (elements / groupElements) * groupBytes,
  };
}

/** Bytes of a packed panel of 8 columns. */
export function blockPanelBytes({ superElements, superBytes }: BlockLayout, k: number): number {
  return (k / superElements) * superBytes;
}

/** Bytes of packed weights [k, n]. */
export function packedBlockBytes(layout: BlockLayout, k: number, n: number): number {
  return Math.ceil(n / tileColumns) * blockPanelBytes(layout, k);
}

/** Bytes of the codes' first vectors of a group; the second vectors follow. */
export function lowPlaneBytes({ groupElements, lowBits }: BlockLayout): number {
  return (groupElements * tileColumns * lowBits) / 8;
}
