import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TokenRows, allRows, normalizeRows, poolingFunctions } from "./pooling.ts";

/** Two texts of three tokens with two dimensions, one after the other; the second begins at 6. */
const data = Float32Array.of(9, 9, 9, 9, 9, 9, 1, -2, 3, 4, 5, -6);
const text = (first: number, end: number): TokenRows => ({ data, offset: 6, dimensions: 2, first, end });

describe("pooling, worked out by hand", () => {
  it.each([
    ["mean", [3, -4 / 3]],
    ["cls", [1, -2]],
    ["last", [5, -6]],
    ["max", [5, 4]],
  ] as const)("%s of a whole text", (pooling, expected) => {
    expect([...poolingFunctions[pooling](text(0, 3))]).toEqual([...Float32Array.from(expected)]);
  });

  it.each([
    ["mean", [2, 1]],
    ["cls", [1, -2]],
    ["last", [3, 4]],
    ["max", [3, 4]],
  ] as const)("%s leaves padding out", (pooling, expected) => {
    expect([...poolingFunctions[pooling](text(0, 2))]).toEqual(expected);
  });

  it.each([
    ["mean", [4, -1]],
    ["last", [5, -6]],
    ["max", [5, 4]],
  ] as const)("%s leaves the prompt out", (pooling, expected) => {
    expect([...poolingFunctions[pooling](text(1, 3))]).toEqual(expected);
  });

  it("cls is the first token even where the prompt takes no part, as in sentence-transformers", () => {
    expect([...poolingFunctions.cls(text(1, 3))]).toEqual([1, -2]);
  });

  it("max of negative values is negative, not zero", () => {
    expect([
      ...poolingFunctions.max({ data: Float32Array.of(-3, -1, -2, -5), offset: 0, dimensions: 2, first: 0, end: 2 }),
    ]).toEqual([-2, -1]);
  });

  it.each(["mean", "cls", "last", "max"] as const)(
    "%s of a text without tokens is zeros, never another text's values",
    (pooling) => {
      expect([...poolingFunctions[pooling](text(0, 0))]).toEqual([0, 0]);
      expect([...poolingFunctions[pooling]({ ...text(0, 0), offset: 0 })]).toEqual([0, 0]);
    },
  );

  it("none gives the vectors of all tokens", () => {
    expect([...allRows(text(0, 2))]).toEqual([1, -2, 3, 4]);
  });

  it("gives vectors of their own: writing to one leaves the model's output as it was", () => {
    for (const pool of Object.values(poolingFunctions)) pool(text(0, 3)).fill(77);
    allRows(text(0, 3)).fill(77);
    expect(data.slice(6)).toEqual(Float32Array.of(1, -2, 3, 4, 5, -6));
  });
});

const values = fc.float({ noNaN: true, min: -100, max: 100 });
const matrix = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 8 })).chain(([tokens, dimensions]) =>
  fc.record({
    tokens: fc.constant(tokens),
    dimensions: fc.constant(dimensions),
    data: fc.array(values, { minLength: tokens * dimensions, maxLength: tokens * dimensions }),
  }),
);

describe("pooling, on any matrix", () => {
  it("mean is the average and max the maximum of every column", () => {
    fc.assert(
      fc.property(matrix, ({ tokens, dimensions, data: flat }) => {
        const rows = { data: Float32Array.from(flat), offset: 0, dimensions, first: 0, end: tokens };
        const [mean, max] = [poolingFunctions.mean(rows), poolingFunctions.max(rows)];
        for (let column = 0; column < dimensions; column += 1) {
          const cells = flat.filter((_value, index) => index % dimensions === column);
          const average = cells.reduce((sum, value) => sum + value, 0) / tokens;
          expect(mean[column]).toBeCloseTo(average, 4);
          expect(max[column]).toBe(Math.fround(Math.max(...cells)));
        }
      }),
    );
  });
});

describe("unit length", () => {
  it("keeps the direction: 3, 4 becomes 0.6, 0.8", () => {
    expect([...normalizeRows(Float32Array.of(3, 4))]).toEqual([...Float32Array.of(0.6, 0.8)]);
  });

  it("leaves a vector of zeros as it is", () => {
    expect([...normalizeRows(new Float32Array(3))]).toEqual([0, 0, 0]);
  });

  it("holds for tiny and huge components, whose squares float32 cannot hold", () => {
    expect(Math.hypot(...normalizeRows(Float32Array.of(1e-30, 1e-30)))).toBeCloseTo(1, 6);
    expect(Math.hypot(...normalizeRows(Float32Array.of(1e30, -1e30)))).toBeCloseTo(1, 6);
  });
});
