/** Numeric tolerances between correct implementations. A tolerance belongs to the kind of output, not to the test. */
import { invalidInput } from "../contract/errors.ts";
import type { Tensor } from "../contract/tensor.ts";

/** Largest absolute difference of a component that tests allow, by the kind of output. */
export const tolerances: Readonly<Record<"unitVectorFp32" | "hiddenStateFp32" | "staticEmbedding" | "repeatedRun", number>> = {
  /** Normalized embeddings of an fp32 encoder (measured between engines on MiniLM: 2.4e-7). */
  unitVectorFp32: 1e-5,
  /** Raw hidden states of an fp32 encoder (measured: 3.1e-6). */
  hiddenStateFp32: 1e-4,
  /** Static embeddings: a sum of table rows, rounded once. */
  staticEmbedding: 1e-5,
  /** Two runs of the same engine on the same input. */
  repeatedRun: 1e-6,
};

/**
 * Maximum absolute difference between the elements of two numeric tensors: 0 if both are empty, Infinity if their shapes differ,
 * NaN if an element is NaN. Throws INPUT_INVALID for tensors of strings.
 */
export function maxDifference(a: Tensor, b: Tensor): number {
  if (a.shape.join() !== b.shape.join() || a.data.length !== b.data.length) return Number.POSITIVE_INFINITY;
  let max = 0;
  for (let index = 0; index < a.data.length; index += 1) {
    max = Math.max(max, Math.abs(numberAt(a, index) - numberAt(b, index)));
  }
  return max;
}

function numberAt({ data, dataType }: Tensor, index: number): number {
  const value = data[index];
  if (typeof value === "string") throw invalidInput(`tensors of ${dataType} have no differences`);
  return Number(value);
}
