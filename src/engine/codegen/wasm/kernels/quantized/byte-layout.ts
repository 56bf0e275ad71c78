/**
 * How `byteMatmul` reads its operands, and why its sums are exact.
 *
 * The relaxed instruction for bytes adds two products in 16 bits. Sums of 24 products stay in 16 bits as well, modulo 2^16, which costs one
 * addition for each instruction where 32 bits would cost two more: that is where the speed comes from. Such a sum is right as long as it lies
 * within 16 bits, and by Cauchy and Schwarz it does where the norm of the activations times the norm of the weights is at most 32,767. Each row
 * of activations and each panel of weights says the largest norm of its runs; where the product is larger, the tile widens after every
 * instruction, which is always right for weights that `fitsBytes`, and slower.
 */

/** Neighbouring k that one instruction multiplies for one column: four, in two sums. */
export const stepDepth = 4;
/**
 * Steps that are summed in 16 bits, two products of each in either lane of a column. Measured: 8 steps are 5 % slower, 16 a few per cent faster
 * where the sums fit, which in MiniLM they do for 94 % of the tiles, with 12 for 98.6 %.
 */
export const runSteps = 12;
/** A vector of 16 bytes: four columns of a step. */
export const vectorBytes = 16;
/** Weights of a step: 8 columns. */
export const stepBytes: number = 2 * vectorBytes;

/** The largest norm that fits with that of the other operand. */
export const maxInt16 = 32_767;

/** Before a panel's runs: its largest norm (int32), two 1 (int16), then the sum of each column (int32). */
export const panelHeaderBytes = 48;
export const onesOffset = 4;
export const columnSumsOffset = 16;

export function stepsOf(k: number): number {
  return Math.ceil(k / stepDepth);
}

/** Bytes of a panel of 8 columns. Each run begins with the sums of its weights, 16 times int16. */
export function panelBytes(k: number): number {
  const steps = stepsOf(k);
  return panelHeaderBytes + Math.ceil(steps / runSteps) * stepBytes + steps * stepBytes;
}

/** Where a row's numbers end: behind them its largest norm and then what the weights' sums are to be multiplied by, both int32. */
export function normOffset(k: number): number {
  return stepsOf(k) * stepDepth;
}

/** Bytes of a row of activations. */
export function rowBytes(k: number): number {
  return normOffset(k) + 8;
}
