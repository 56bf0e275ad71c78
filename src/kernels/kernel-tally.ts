/** Counts of kernel calls of one loaded model. */
import type { KernelCount } from "../contract/backend.ts";

/** Counts calls by kernel id. */
export class KernelTally {
  readonly #calls = new Map<string, number>();

  /** Adds completed calls of a kernel. */
  add(id: string, calls: number = 1): void {
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + calls);
  }

  /** All counts, the most frequent kernel first. */
  get counts(): readonly KernelCount[] {
    return sumKernelCounts([[...this.#calls].map(([id, calls]) => ({ id, calls }))]);
  }
}

/** The sums of several lists of counts, the most frequent kernel first; kernels that were called equally often are in the order of their ids. */
export function sumKernelCounts(lists: readonly (readonly KernelCount[])[]): readonly KernelCount[] {
  const sums = new Map<string, number>();
  for (const { id, calls } of lists.flat()) sums.set(id, (sums.get(id) ?? 0) + calls);
  return [...sums].map(([id, calls]) => ({ id, calls })).sort((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1));
}

/** The counts of the models among these that count their kernels; undefined if none does. */
export async function countsOfModels(
  models: readonly { kernelCounts?(): Promise<readonly KernelCount[]> }[],
): Promise<readonly KernelCount[] | undefined> {
  const lists = await Promise.all(models.flatMap((model) => (model.kernelCounts === undefined ? [] : [model.kernelCounts()])));
  return lists.length === 0 ? undefined : sumKernelCounts(lists);
}
