import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SimilarityMetric, similarityMetrics, similarityRow, vectorTable } from "./similarity-matrix.ts";

const naive: Record<SimilarityMetric, (a: number[], b: number[]) => number> = {
  dot: (a, b) => a.reduce((sum, x, axis) => sum + x * b[axis]!, 0),
  cosine: (a, b) => naive.dot(a, b) / (Math.sqrt(naive.dot(a, a) * naive.dot(b, b)) || 1),
  euclidean: (a, b) => -Math.sqrt(a.reduce((sum, x, axis) => sum + (x - b[axis]!) ** 2, 0)),
  manhattan: (a, b) => -a.reduce((sum, x, axis) => sum + Math.abs(x - b[axis]!), 0),
};

function matrix(a: readonly number[][], b: readonly number[][], metric: SimilarityMetric): Float32Array[] {
  const table = (rows: readonly number[][]) =>
    vectorTable(
      rows.map((row) => Float32Array.from(row)),
      metric === "cosine",
    );
  const [left, right] = [table(a), table(b)];
  return a.map((_row, index) => similarityRow(left, index, right, metric));
}

describe.each(similarityMetrics)("%s", (metric) => {
  it("is what its definition says, for every number of rows", () => {
    const rows = fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 5, maxLength: 5 }), { maxLength: 11 });
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const scores = matrix(a, b, metric);
        expect(scores.length).toBe(a.length);
        for (const [row, values] of scores.entries()) {
          expect(values.length).toBe(b.length);
          for (const [column, score] of values.entries()) expect(score).toBeCloseTo(naive[metric](a[row]!, b[column]!), 4);
        }
      }),
    );
  });

  it("a score does not depend on the place of its row", () => {
    const b = Array.from({ length: 7 }, () => [0.1, 0.7, -0.3]);
    const [row] = matrix([[0.2, 0.5, 0.9]], b, metric);
    expect(new Set(row).size).toBe(1);
  });
});

it("the measures of two vectors by hand", () => {
  const scores = similarityMetrics.map((metric) => matrix([[3, 4]], [[0, 1]], metric)[0]![0]!);
  for (const [place, expected] of [0.8, 4, -Math.sqrt(18), -6].entries()) expect(scores[place]).toBeCloseTo(expected, 6);
});

it("a vector without length is like nothing", () => {
  expect(matrix([[0, 0]], [[0, 1]], "cosine")[0]![0]).toBe(0);
});
