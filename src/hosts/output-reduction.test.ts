import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reduceOutputs } from "./output-reduction.ts";
import type { Tensor } from "../contract/tensor.ts";

const logits = (shape: readonly number[], values: readonly number[]): Tensor => ({
  dataType: "float32",
  shape,
  data: Float32Array.from(values),
});

describe("reduceOutputs", () => {
  it("leaves alone what has no reduction", () => {
    const outputs = { a: logits([1, 1, 1], [1]), b: logits([1, 1, 1], [2]) };
    expect(reduceOutputs(outputs)).toBe(outputs);
    expect(reduceOutputs(outputs, { a: { kind: "highest", lengths: [1] } })["b"]).toBe(outputs.b);
  });

  it("highest: over the tokens of each row, padding left out, at least 0", () => {
    const size = {
      batch: fc.integer({ min: 1, max: 4 }),
      tokens: fc.integer({ min: 1, max: 5 }),
      values: fc.integer({ min: 1, max: 6 }),
    };
    fc.assert(
      fc.property(
        fc.record(size),
        fc.infiniteStream(fc.float({ noNaN: true, min: -9, max: 9 })),
        fc.nat(),
        (shape, stream, seed) => {
          const { batch, tokens, values } = shape;
          const data = Float32Array.from({ length: batch * tokens * values }, () => stream.next().value);
          const lengths = Array.from({ length: batch }, (_length, row) => 1 + ((seed + row) % tokens));
          const outputs = { x: { dataType: "float32", shape: [batch, tokens, values], data } as const };
          const { x } = reduceOutputs(outputs, { x: { kind: "highest", lengths } });
          expect(x?.shape).toEqual([batch, values]);
          for (const [row, length] of lengths.entries()) {
            for (let value = 0; value < values; value += 1) {
              const column = Array.from({ length }, (_token, token) => data[(row * tokens + token) * values + value]!);
              expect(x?.data[row * values + value]).toBe(Math.max(0, ...column) + 0);
            }
          }
        },
      ),
    );
  });

  it("highest: does not hide what is not a number", () => {
    const outputs = { x: logits([1, 3, 2], [1, 2, Number.NaN, 3, 4, 5]) };
    const { x } = reduceOutputs(outputs, { x: { kind: "highest", lengths: [3] } });
    expect(x?.data[0]).toBeNaN();
    expect(x?.data[1]).toBe(5);
  });

  it("mean: over the tokens of each row's range, zeros where it is empty", () => {
    const outputs = { x: logits([3, 2, 2], [1, 2, 3, 6, 5, 6, 7, 8, 9, 9, 9, 9]) };
    const ranges = [
      { first: 0, end: 2 },
      { first: 1, end: 2 },
      { first: 1, end: 1 },
    ];
    const { x } = reduceOutputs(outputs, { x: { kind: "mean", ranges } });
    expect([x?.shape, [...x!.data]]).toEqual([
      [3, 2],
      [2, 4, 7, 8, 0, 0],
    ]);
    for (const wrong of [ranges.slice(1), [...ranges.slice(1), { first: 0, end: 3 }]])
      expect(() => reduceOutputs(outputs, { x: { kind: "mean", ranges: wrong } })).toThrow(/ranges do not fit a batch of 3 rows/);
  });

  it("tokens: those asked for, in that order", () => {
    const outputs = { x: logits([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]) };
    const positions = [
      { row: 1, token: 0 },
      { row: 0, token: 1 },
    ];
    expect(reduceOutputs(outputs, { x: { kind: "tokens", positions } })).toEqual({ x: logits([2, 2], [5, 6, 3, 4]) });
    expect(reduceOutputs(outputs, { x: { kind: "tokens", positions: [] } })["x"]?.shape).toEqual([0, 2]);
  });

  it("says that the backend is wrong where an output is missing", () => {
    expect(() => reduceOutputs({}, { y: { kind: "highest", lengths: [1] } })).toThrow(
      expect.objectContaining({ code: "CONTRACT_VIOLATION" }),
    );
  });

  it.each([
    ["another batch", { x: { kind: "highest", lengths: [1] } }],
    ["a row longer than the batch", { x: { kind: "highest", lengths: [2, 3] } }],
    ["a token that is not there", { x: { kind: "tokens", positions: [{ row: 0, token: 2 }] } }],
    ["a row that is not there", { x: { kind: "tokens", positions: [{ row: -1, token: 0 }] } }],
    ["an output of another rank", { flat: { kind: "highest", lengths: [2] } }],
  ] as const)("refuses %s", (_what, reductions) => {
    const outputs = { x: logits([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]), flat: logits([2, 2], [1, 2, 3, 4]) };
    expect(() => reduceOutputs(outputs, reductions)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
