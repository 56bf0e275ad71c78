import { expect, it } from "vitest";
import fc from "fast-check";
import { type AxisWeights, createAxisWeights } from "../resampling-filters.ts";
import { resizeColumnsByKernel, resizeRowsByKernel } from "./resize-kernels.ts";

/** The sums of one output sample in plain arithmetic: `step` bytes from one source position to the next. */
function sample(data: Uint8Array, axis: AxisWeights, out: number, first: number, step: number): number {
  const { starts, counts, weights, stride, bits } = axis;
  let sum = 2 ** (bits - 1);
  for (let tap = 0; tap < counts[out]!; tap++) sum += data[first + (starts[out]! + tap) * step]! * weights[out * stride + tap]!;
  return Math.min(255, Math.max(0, Math.floor(sum / 2 ** bits)));
}

const side = fc.integer({ min: 1, max: 70 });
const arguments_ = {
  from: side,
  to: side,
  other: fc.integer({ min: 1, max: 40 }),
  filter: fc.constantFrom("lanczos", "bilinear", "bicubic", "box", "hamming" as const),
  precision: fc.constantFrom("pillow", "torch" as const),
  seed: fc.nat(),
};

it("resizes rows and columns with the same samples as sums in plain arithmetic", () => {
  fc.assert(
    fc.property(fc.record(arguments_), ({ from, to, other, filter, precision, seed }) => {
      const axis = createAxisWeights(from, to, filter, precision);
      const noise = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => ((at + seed) * 2_654_435_761) >>> 24);
      const rows = noise(3 * from * other);
      const wide = new Uint8Array(3 * to * other);
      expect(resizeRowsByKernel({ data: rows, from, height: other }, axis, wide)).toBe(true);
      expect(wide).toEqual(
        wide.map((_, at) => {
          const [row, inRow] = [Math.floor(at / (3 * to)), at % (3 * to)];
          return sample(rows, axis, Math.floor(inRow / 3), 3 * from * row + (inRow % 3), 3);
        }),
      );
      const columns = noise(other * from);
      const high = new Uint8Array(other * to);
      expect(resizeColumnsByKernel({ data: columns, from, length: other }, axis, high)).toBe(true);
      expect(high).toEqual(high.map((_, at) => sample(columns, axis, Math.floor(at / other), at % other, other)));
    }),
    { numRuns: 50 },
  );
});

it("resizes pictures larger than the memory of one part", () => {
  const [from, to, height] = [12_000, 7, 130];
  const axis = createAxisWeights(from, to, "bicubic", "pillow");
  const data = Uint8Array.from({ length: 3 * from * height }, (_, at) => (at * 2_654_435_761) >>> 24);
  const out = new Uint8Array(3 * to * height);
  resizeRowsByKernel({ data, from, height }, axis, out);
  const last = (height - 1) * 3 * from;
  expect(out.at(-1)).toBe(sample(data, axis, to - 1, last + 2, 3));
  const tall = createAxisWeights(height * 50, 9, "lanczos", "pillow");
  const narrow = new Uint8Array(9 * 720);
  resizeColumnsByKernel({ data, from: height * 50, length: 720 }, tall, narrow);
  expect(narrow.at(-1)).toBe(sample(data, tall, 8, 719, 720));
});
