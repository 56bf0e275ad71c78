import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EmbeddingRanges, embeddingRanges } from "./quantization-ranges.ts";
import { type QuantizedVectors, checkQuantize, quantizeVectors } from "./quantize.ts";
import type { QuantizedPrecision } from "./precisions.ts";

/** numpy 2.4.6 with the formulas of sentence-transformers' `quantize_embeddings`; "own": ranges of the vectors themselves. */
interface Goldens extends Readonly<Record<"binary" | "ubinary", number[][]>> {
  readonly embeddings: number[][];
  readonly ranges: [number[], number[]];
  readonly calibrated: Readonly<Record<"int8" | "uint8", number[][]>>;
  readonly own: Readonly<Record<"int8" | "uint8", number[][]>>;
}
const goldens = JSON.parse(readFileSync(new URL("quantize.goldens.json", import.meta.url), "utf8")) as Goldens;
const vectors = goldens.embeddings.map((vector) => Float32Array.from(vector));
const numbers = ({ embeddings }: QuantizedVectors): number[][] => embeddings.map((vector) => [...vector]);

/** The floats that a result stands for. */
function restored({ embeddings, scales }: QuantizedVectors): number[][] {
  const { per, starts, steps } = scales!;
  return embeddings.map((vector, text) =>
    Array.from(vector, (value, dimension) => {
      const place = per === "text" ? text : dimension;
      return starts[place]! + steps[place]! * value;
    }),
  );
}

describe("equal to sentence-transformers", () => {
  it.each(["binary", "ubinary"] as const)("%s", (precision) => {
    const result = quantizeVectors(vectors, { precision });
    expect(numbers(result)).toEqual(goldens[precision]);
    expect(result.scales).toBeUndefined();
    expect(result.embeddings[0]).toBeInstanceOf(precision === "binary" ? Int8Array : Uint8Array);
  });

  it.each(["int8", "uint8"] as const)("%s with ranges, of others or of the vectors themselves", (precision) => {
    expect(numbers(quantizeVectors(vectors, { precision, ranges: goldens.ranges }))).toEqual(goldens.calibrated[precision]);
    expect(numbers(quantizeVectors(vectors, { precision, ranges: embeddingRanges(vectors) }))).toEqual(goldens.own[precision]);
  });
});

describe("floats come back", () => {
  const vector = fc.array(fc.float({ min: -2, max: 2, noNaN: true, noDefaultInfinity: true }), { minLength: 8, maxLength: 8 });

  it.each(["int8", "uint8"] as const)("%s: to half a step with a scale for each text, to a step with ranges", (precision) => {
    fc.assert(
      fc.property(fc.array(vector, { minLength: 1, maxLength: 5 }), (lists) => {
        const own = lists.map((list) => Float32Array.from(list));
        const byText = quantizeVectors(own, { precision });
        const byDimension = quantizeVectors(own, { precision, ranges: embeddingRanges(own) });
        expect([byText.scales?.per, byDimension.scales?.per]).toEqual(["text", "dimension"]);
        for (const [text, list] of own.entries()) {
          const largest = Math.max(...list.map(Math.abs));
          for (const [dimension, value] of list.entries()) {
            expect(Math.abs(restored(byText)[text]![dimension]! - value)).toBeLessThanOrEqual(largest / 254 + 1e-6);
            const step = byDimension.scales!.steps[dimension]!;
            expect(Math.abs(restored(byDimension)[text]![dimension]! - value)).toBeLessThanOrEqual(step + 1e-6);
          }
        }
      }),
    );
  });

  it("a text's numbers do not depend on the others", () => {
    const together = quantizeVectors(vectors, { precision: "int8" });
    const alone = quantizeVectors([vectors[2]!], { precision: "int8" });
    expect(alone.embeddings[0]).toEqual(together.embeddings[2]);
    expect(alone.scales?.steps[0]).toBe(together.scales?.steps[2]);
    expect(Math.max(...together.embeddings[2]!.map(Math.abs))).toBe(127);
  });

  it("uint8 is int8 plus 128, and a vector of zeros is all zeros again", () => {
    const [signed, unsigned] = (["int8", "uint8"] as const).map((precision) => quantizeVectors(vectors, { precision }));
    expect(numbers(unsigned!)).toEqual(numbers(signed!).map((list) => list.map((value) => value + 128)));
    const tiny = quantizeVectors([Float32Array.of(178 * 2 ** -149, -(2 ** -149))], { precision: "int8" });
    expect(numbers(tiny)).toEqual([[127, -1]]);
    const zeros = [new Float32Array(8)];
    for (const precision of ["int8", "uint8"] as const)
      expect(restored(quantizeVectors(zeros, { precision }))[0]).toEqual(Array(8).fill(0));
  });

  it("values beyond the ranges become the nearest there is; a dimension without a range is its one value", () => {
    const ranges: EmbeddingRanges = [
      [-1, 5],
      [1, 5],
    ];
    const beyond = [Float32Array.of(-9, 5), Float32Array.of(9, 7)];
    const result = quantizeVectors(beyond, { precision: "uint8", ranges });
    expect(numbers(result)).toEqual([
      [0, 0],
      [255, 0],
    ]);
    expect(restored(result)[1]![1]).toBe(5);
    expect(numbers(quantizeVectors(beyond, { precision: "int8", ranges }))).toEqual([
      [-128, -128],
      [127, -128],
    ]);
  });
});

describe("what is refused", () => {
  const expectRefused = (work: () => unknown, message: RegExp): void => {
    expect(work).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
    expect(work).toThrow(message);
  };

  it("a length that fills no whole byte, ranges of another length", () => {
    expectRefused(() => quantizeVectors([new Float32Array(12)], { precision: "binary" }), /the vectors have 12/);
    expectRefused(
      () => quantizeVectors([new Float32Array(3)], { precision: "int8", ranges: [[0], [1]] }),
      /ranges are of 1 dimensions/,
    );
    expectRefused(() => embeddingRanges([]), /at least one embedding/);
  });

  it("before anything runs: an unknown precision, token vectors, ranges that are invalid or have no effect", () => {
    expectRefused(() => checkQuantize({ precision: "int4" as QuantizedPrecision }, undefined), /precision is "int4"/);
    expectRefused(() => checkQuantize({ precision: "int8" }, "none"), /one vector per text/);
    expectRefused(() => checkQuantize({ precision: "binary", ranges: [[0], [1]] }, undefined), /have no effect/);
    expectRefused(() => checkQuantize({ ranges: [[0], [1]] }, undefined), /have no effect with precision "float32"/);
    for (const ranges of [[[0]], [[0], [1, 2]], [[2], [1]], [[Number.NaN], [1]], [[0], [Infinity]], [["0"], [1]], [null, [1]], 7])
      expectRefused(() => checkQuantize({ precision: "int8", ranges: ranges as never }, undefined), /ranges must be/);
  });
});
