/** Checks of `ModelBase.kernelCounts`. */
import { strict as assert } from "node:assert";
import type { KernelCount } from "../contract/backend.ts";

/** The counts by id. Throws for an empty or repeated id, and for a count that is no whole number of at least 1. */
export function checkedCounts(counts: readonly KernelCount[]): ReadonlyMap<string, number> {
  for (const { id, calls } of counts) {
    assert.ok(typeof id === "string" && id !== "", "a kernel has an id");
    assert.ok(Number.isSafeInteger(calls) && calls > 0, `calls of ${id} are counted: ${calls}`);
  }
  const byId = new Map(counts.map(({ id, calls }) => [id, calls]));
  assert.equal(byId.size, counts.length, "each id is listed once");
  return byId;
}

/** Checks the counts after three runs with the same inputs: the second and the third add the same calls, and at least one. */
export function checkGrowth([first, second, third]: readonly [
  first: ReadonlyMap<string, number>,
  second: ReadonlyMap<string, number>,
  third: ReadonlyMap<string, number>,
]): void {
  const added = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Record<string, number> =>
    Object.fromEntries([...after].map(([id, calls]) => [id, calls - (before.get(id) ?? 0)]));
  const [bySecond, byThird] = [added(first, second), added(second, third)];
  assert.deepEqual(byThird, bySecond, "equal runs call the same kernels equally often");
  assert.ok(
    Object.values(byThird).every((calls) => calls >= 0),
    "counts never fall",
  );
  assert.ok(
    Object.values(byThird).some((calls) => calls > 0),
    "a run adds calls",
  );
}
