import { describe, expect, it } from "vitest";
import { Adam } from "./adam.ts";
import { dotProducts } from "./dot-products.ts";
import { fitRows } from "./fit.ts";
import { zeroMatrix } from "./matrix.ts";
import { randomIntegers, shuffledIndices } from "./random.ts";

describe("Adam", () => {
  it("moves each touched value by the learning rate at first, then by less where slopes disagree, and leaves other rows alone", () => {
    const rows = { rows: 3, columns: 1, data: Float32Array.of(1, 1, 1) };
    const adam = new Adam(3);
    adam.step(rows, Float64Array.of(0.5, -30, 7), [0, 1], 0.125);
    expect([...rows.data].map((value) => Number(value.toFixed(5)))).toEqual([0.875, 1.125, 1]);
    adam.step(rows, Float64Array.of(0.5, 30, 7), [0, 1], 0.125);
    // Same slope again: the same step. Opposite slope: (0.1 * 30 - 0.9 * 0.1 * 30) / (1 - 0.81) / 30 = 0.0526 of a step.
    expect([...rows.data].map((value) => Number(value.toFixed(4)))).toEqual([0.75, 1.1184, 1]);
  });
});

describe("dotProducts", () => {
  it.each([true, false])("gives the products (symmetric: %s)", (symmetric) => {
    const random = randomIntegers(11);
    const a = Float64Array.from({ length: 8 * 5 }, () => random(20) - 10);
    const b = symmetric ? a : Float64Array.from({ length: 12 * 5 }, () => random(20) - 10);
    const columns = b.length / 5;
    const out = new Float64Array(8 * columns);
    dotProducts(a, b, out, { rows: 8, columns, length: 5 }, symmetric);
    const expected = Array.from({ length: 8 * columns }, (_, at) => {
      const [i, j] = [Math.floor(at / columns), at % columns];
      return a.slice(i * 5, i * 5 + 5).reduce((sum, value, k) => sum + value * (b[j * 5 + k] ?? 0), 0);
    });
    expect([...out]).toEqual(expected);
  });
});

describe("fit", () => {
  it("gives the same rows for the same seed, other rows for another, and never touches rows without text", async () => {
    const random = randomIntegers(1);
    const tokens = Array.from({ length: 30 }, () => Uint32Array.of(random(5), random(5), random(5)));
    const teacher = zeroMatrix(30, 4);
    for (let row = 0; row < 30; row++) teacher.data[row * 4 + random(4)] = 1;
    const start = Float32Array.from({ length: 6 * 4 }, () => random(100) / 100 - 0.5);
    const fitted = async (seed: number): Promise<number[]> => {
      const rows = { rows: 6, columns: 4, data: start.slice() };
      await fitRows(rows, { tokens, teacher }, { passes: 3, batchSize: 8, learningRate: 0.01, seed });
      return [...rows.data];
    };
    const first = await fitted(1);
    expect(await fitted(1)).toEqual(first);
    expect(await fitted(2)).not.toEqual(first);
    expect(first.slice(0, 20)).not.toEqual(Array.from(start.subarray(0, 20)));
    expect(first.slice(20)).toEqual(Array.from(start.subarray(20)));
  });
});

it("shuffles: every index once, in an order the seed decides", () => {
  const order = shuffledIndices(100, randomIntegers(4));
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(order.filter((value, index) => value === index).length).toBeLessThan(10);
  expect(shuffledIndices(100, randomIntegers(4))).toEqual(order);
});
