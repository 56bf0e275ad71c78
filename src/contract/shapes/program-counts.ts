/** Counts of compiled programs of one model. */
import type { ProgramCounts } from "../tensor-model.ts";

/** The sums over the models among these that count programs; undefined if none does. */
export function programsOfModels(
  models: readonly { readonly programs?: ProgramCounts | undefined }[],
): ProgramCounts | undefined {
  const counted = models.flatMap(({ programs }) => programs ?? []);
  if (counted.length === 0) return undefined;
  const sum = (read: (counts: ProgramCounts) => number): number => counted.reduce((total, counts) => total + read(counts), 0);
  return {
    compiled: sum(({ compiled }) => compiled),
    compileMs: sum(({ compileMs }) => compileMs),
    cached: sum(({ cached }) => cached),
    cachedBytes: sum(({ cachedBytes }) => cachedBytes),
  };
}
