import { describe, expect, it } from "vitest";
import { CosineLoss } from "./cosine-loss.ts";
import type { TrainingTexts } from "./cosine-loss.ts";
import { getRow, toUnitLength, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { randomIntegers } from "./random.ts";

function randomMatrix(rows: number, columns: number, seed: number): Matrix {
  const random = randomIntegers(seed);
  const matrix = zeroMatrix(rows, columns);
  for (let at = 0; at < matrix.data.length; at++) matrix.data[at] = random(2001) / 1000 - 1;
  return matrix;
}

function setting(
  texts: number,
  batchSize: number,
): { rows: Matrix; text: TrainingTexts; objective: CosineLoss; batch: Uint32Array } {
  const random = randomIntegers(3);
  const tokens = Array.from({ length: texts }, (_, text) => Uint32Array.from({ length: 1 + (text % 4) }, () => random(7)));
  const teacher = randomMatrix(texts, 5, 2);
  for (let row = 0; row < texts; row++) getRow(teacher, row).set(toUnitLength(getRow(teacher, row)));
  const objective = new CosineLoss({ rowCount: 9, dimensions: 8, teacherDimensions: 5, batchSize });
  return {
    rows: randomMatrix(9, 8, 1),
    text: { tokens, teacher },
    objective,
    batch: Uint32Array.from({ length: texts }, (_, i) => i),
  };
}

/** The definition, one pair at a time. */
function lossByDefinition(rows: Matrix, text: TrainingTexts): number {
  const students = text.tokens.map((tokens) => {
    const sum = new Float64Array(rows.columns);
    for (const row of tokens) for (const [i, value] of getRow(rows, row).entries()) sum[i] = (sum[i] ?? 0) + value;
    return sum;
  });
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
    Array.from(a).reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  let total = 0;
  for (const [i, a] of students.entries()) {
    for (const [j, b] of students.entries()) {
      if (i === j) continue;
      const student = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
      total += (student - dot(getRow(text.teacher, i), getRow(text.teacher, j))) ** 2;
    }
  }
  return total / (students.length * (students.length - 1));
}

describe("the loss", () => {
  it.each([8, 6, 2])("is the mean squared difference of cosines, for %i texts in batches of 8", (texts) => {
    const { rows, text, objective, batch } = setting(texts, 8);
    expect(objective.compute(rows, text, batch)).toBeCloseTo(lossByDefinition(rows, text), 12);
  });

  it.each([8, 6])("has the gradient that small steps measure (%i texts)", (texts) => {
    const { rows, text, objective, batch } = setting(texts, 8);
    // A first call on other texts, so that what it leaves behind would show.
    objective.compute(rows, text, batch.slice(0, 3));
    objective.compute(rows, text, batch);
    const used = new Set(text.tokens.flatMap((tokens) => [...tokens]));
    expect(new Set(objective.touched)).toEqual(used);
    expect(used.size).toBeLessThan(9);
    const step = 2 ** -9;
    for (let at = 0; at < rows.data.length; at++) {
      const value = rows.data[at] ?? 0;
      rows.data[at] = value + step;
      const above = lossByDefinition(rows, text);
      rows.data[at] = value - step;
      const below = lossByDefinition(rows, text);
      rows.data[at] = value;
      expect(objective.gradient[at]).toBeCloseTo((above - below) / (2 * step), 4);
    }
  });

  it("is zero with no gradient for a text whose rows cancel out, or a text alone", () => {
    const { rows, objective } = setting(2, 4);
    for (const [i, value] of getRow(rows, 0).entries()) rows.data[8 + i] = -value;
    const teacher = zeroMatrix(2, 5);
    const text: TrainingTexts = { tokens: [Uint32Array.of(0, 1), Uint32Array.of(2)], teacher };
    expect(objective.compute(rows, text, Uint32Array.of(0, 1))).toBe(0);
    expect(objective.compute(rows, text, Uint32Array.of(1))).toBe(0);
    expect(objective.gradient.every((slope) => slope === 0)).toBe(true);
  });
});
