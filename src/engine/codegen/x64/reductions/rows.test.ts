import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largestError, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runBoth } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import type { Kernel } from "../../wasm/kernel.ts";
import { norm } from "../../wasm/kernels/reductions/norm.ts";
import { softmax } from "../../wasm/kernels/reductions/softmax.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const columnCounts = fc.oneof(size(16), size(70), size(400));
const tolerance = 4e-6;

describe.each(["AVX2", "AVX-512"] as const)("rows in machine code with %s", (level) => {
  function expectSame(
    kernel: Kernel,
    inputs: Readonly<Record<string, Float32Array>>,
    count: number,
    calls: number,
  ): string | void {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") return machineCode;
    const { wasm, machine } = runBoth(kernel, { ...inputs, y: new Float32Array(count) }, machineCode, { calls });
    const numbers = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer);
    for (const each of machine) expect(largestError(numbers(each), numbers(wasm)), kernel.key).toBeLessThan(tolerance);
    expect(machine[1]).toEqual(machine[0]);
  }

  it("expects softmax to have the numbers of WebAssembly, with any mask", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    const shapes = fc.tuple(size(3), size(4), columnCounts);
    const masks = fc.option(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { nil: undefined });
    fc.assert(
      fc.property(shapes, masks, fc.boolean(), size(4), fc.boolean(), (shape, kept, logarithm, calls, isOdd) => {
        const count = shape.reduce((all, each) => all * each, 1);
        const [, rows, columns] = shape;
        const steps = [rows * columns, columns, 1];
        const maskStrides = kept?.map((keeps, axis) => (keeps ? steps[axis]! : 0));
        const x = randomFloats(count, 1, 30);
        const mask = randomFloats(count, 2, 5).map((value, index) =>
          index % 3 === 0 ? -1e30 : index % 7 === 0 ? -Infinity : value,
        );
        if (isOdd) {
          x[0] = Number.NaN;
          x[count - 1] = Infinity;
        }
        const kernel = softmax({ shape, logarithm, ...(maskStrides === undefined ? {} : { maskStrides }) });
        expectSame(kernel, { x, mask }, count, calls);
      }),
      { numRuns: amount(2000, 20) },
    );
  });

  it("expects layer normalization to have the numbers of WebAssembly", ({ skip }) => {
    const reason = openLevel(level);
    if (typeof reason === "string") return skip(reason);
    fc.assert(
      fc.property(size(5), columnCounts, fc.boolean(), fc.boolean(), size(4), (rows, columns, gamma, beta, calls) => {
        const inputs = { x: randomFloats(rows * columns, 1, 3), gamma: randomFloats(columns, 2), beta: randomFloats(columns, 3) };
        expectSame(norm({ rows, columns, epsilon: 1e-5, gamma, beta }), inputs, rows * columns, calls);
      }),
      { numRuns: amount(2000, 15) },
    );
  });
});
