/**
 * The operand layout of `byteMatmul`, and why its sums are exact.
 *
 * The relaxed dot product of bytes adds two products in 16 bits. Sums of 24 products are kept in 16 bits as well, modulo 2^16, which takes one addition
 * per instruction instead of the three that widening to 32 bits takes. By the Cauchy-Schwarz inequality such a sum fits 16 bits when the norm of the
 * activations times the norm of the weights is at most 32,767. Each row of activations and each panel of weights stores the largest norm of its runs.
 * Where the product of norms is larger, the tile widens after every instruction, which is slower and exact for all weights that satisfy `fitsBytes`.
 */
import { vectorBytes } from "../loops/lanes.ts";

/** Neighbouring k that one dot product instruction multiplies for one column: four products, added to two 16-bit sums. */
export const stepDepth = 4;
/**
 * Steps that are summed in 16 bits, two products of each in either lane of a column. Measured: 8 steps are 5 % slower, 16 a few per cent faster
 * where the sums fit, which in MiniLM they do for 94 % of the tiles, with 12 for 98.6 %.
 */
export const runSteps = 12;
/** Bytes of the packed weights that one step, `stepDepth` neighbouring k, reads of a panel: two vectors of four columns. */
export const stepBytes: number = 2 * vectorBytes;

/** Upper bound on the product of the norm of a row of activations and the norm of a panel of weights for which all their 16-bit sums are exact. */
export const maxNormProduct = 32_767;

/** Bytes of the header of a panel: the largest norm of its runs (int32), two int16 of value 1, padding, then the sum of each column (8 times int32). */
export const panelHeaderBytes = 48;
/**
 * Byte offset, within the header of a panel, of two int16 elements with the value 1. Kernels load them as the operand of the widening dot product.
 */
export const onesOffset = 4;
/** Byte offset, within the header of a panel, of the sums of the weights of its 8 columns: 8 times int32. */
export const columnSumsOffset = 16;

/** Number of steps of `stepDepth` neighbouring k that cover k; the last step is padded with zeros. */
export function getSteps(k: number): number {
  return Math.ceil(k / stepDepth);
}

/** Bytes of a packed panel of 8 columns, header included. Each run begins with the sums of its weights, 16 times int16. */
export function panelBytes(k: number): number {
  const steps = getSteps(k);
  return panelHeaderBytes + Math.ceil(steps / runSteps) * stepBytes + steps * stepBytes;
}

/**
 * Byte offset, within a row of activations, of the largest norm of its runs (int32). The factor of the sums of weights (int32), which corrects for
 * the zero point, follows it.
 */
export function normOffset(k: number): number {
  return getSteps(k) * stepDepth;
}

/** Bytes of a row of k quantized activations: the padded elements, the norm and the zero-point factor. */
export function rowBytes(k: number): number {
  return normOffset(k) + 8;
}
