import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomFloats } from "../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel } from "../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../test/fixtures/slow.ts";
import { gather } from "../wasm/kernels/movement/gather.ts";
import { hasColumnGather } from "./gather-columns.ts";

/** Columns that go forward by 0 to 2 for each element, disturbed a little. */
const gathers = fc
  .record({
    n: fc.integer({ min: 8, max: 90 }),
    outer: fc.integer({ min: 1, max: 9 }),
    step: fc.constantFrom(0.125, 0.25, 0.5, 1 / 3, 1, 0.9),
    count: fc.integer({ min: 1, max: 200 }),
    noise: fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 200, maxLength: 200 }),
  })
  .map(({ n, step, count, noise, outer }) => ({
    n,
    outer,
    columns: noise.slice(0, count).map((by, index) => Math.max(0, Math.min(n - 1, Math.floor(index * step) + by))),
  }))
  .filter(hasColumnGather);

describe.each(["AVX2", "AVX-512"] as const)("gathers of known columns with %s", (level) => {
  it("have the elements of WebAssembly's, in any division into calls, and read nothing outside", ({ skip }) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") return skip(machineCode);
    fc.assert(
      fc.property(gathers, fc.integer({ min: 1, max: 4 }), ({ n, columns, outer }, calls) => {
        const kernel = gather({ outer, n, inner: 1, count: columns.length, elementBytes: 4, indexType: "int32", columns });
        const x = randomFloats(outer * n, 1);
        const y = new Float32Array(outer * columns.length);
        expectSameBits(kernel, { x, index: Int32Array.from(columns), y }, machineCode, { calls, last: "x" });
      }),
      { numRuns: amount(1000, 20) },
    );
  });

  it("are left to WebAssembly where neighbours are far from each other", () => {
    expect(hasColumnGather({ n: 100, columns: [0, 99] })).toBe(false);
    expect(hasColumnGather({ n: 7, columns: [0] })).toBe(false);
  });
});
