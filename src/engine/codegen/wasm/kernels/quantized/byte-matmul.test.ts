import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  KernelMemory,
  featureSets,
  features,
  largestError,
  randomFloats,
  randomNumbers,
} from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import type { WasmFeatures } from "../../assembler/wasm-features.ts";
import { roundHalfToEven } from "../../../../../contract/small-floats.ts";
import type { IntegerOutput } from "./integer-epilogue.ts";
import { maxNormProduct, normOffset, panelBytes, rowBytes, runSteps, stepDepth } from "./byte-layout.ts";
import { byteMatmul } from "./byte-matmul.ts";
import { type ByteWeights, fitsBytes, packBytes, packedBytesLength } from "./pack-bytes.ts";
import { quantizeRows } from "./quantize-rows.ts";

const size = (max: number) => fc.integer({ min: 1, max });

interface Given {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Already whole: scale is 1, so that quanta are these numbers plus the zero point. */
  readonly x: Float32Array;
  readonly zero: number;
  readonly weights: ArrayLike<number>;
}

interface Ran {
  readonly c: Int32Array | Float32Array;
  /** The largest product of norms of any tile. */
  readonly norm: number;
}

const tails = {
  aScale: Float32Array.of(1),
  bScale: randomFloats(64, 5, 0.01),
  bias: randomFloats(64, 6),
  residual: randomFloats(64 * 64, 7),
};

function run({ m, n, k, x, zero, weights }: Given, output: IntegerOutput, splits: number, set: WasmFeatures): Ran {
  const memory = new KernelMemory(4 * 1024 * 1024);
  const given: ByteWeights = { values: weights, k, n };
  const packed = memory.room(Uint8Array, packedBytesLength(given));
  packBytes(packed.data, given);
  const rows = memory.room(Uint8Array, m * rowBytes(k));
  const [xAt, scaleAt, zeroAt] = [memory.put(x), memory.put(Float32Array.of(1)), memory.put(Uint8Array.of(zero))];
  memory.run(quantizeRows({ rows: m, columns: k }), [xAt.offset, scaleAt.offset, zeroAt.offset, rows.offset], splits, set);
  const c = memory.room<Int32Array | Float32Array>(output === "int32" ? Int32Array : Float32Array, m * n);
  const kernel = byteMatmul({ m, n, k, output });
  const offsets: Readonly<Record<string, number>> = {
    a: rows.offset,
    b: packed.offset,
    c: c.offset,
    ...Object.fromEntries(Object.entries(tails).map(([name, values]) => [name, memory.put(values).offset])),
  };
  memory.run(
    kernel,
    kernel.parameters.map((name) => offsets[name]!),
    splits,
    set,
  );
  const word = (bytes: Uint8Array, at: number) => new DataView(bytes.buffer, bytes.byteOffset).getInt32(at, true);
  const max = (count: number, at: (index: number) => number) =>
    Math.max(...Array.from({ length: count }, (_, index) => at(index)));
  const norm =
    max(m, (row) => word(rows.data, row * rowBytes(k) + normOffset(k))) *
    max(Math.ceil(n / 8), (panel) => word(packed.data, panel * panelBytes(k)));
  return { c: c.data, norm };
}

function sums({ m, n, k, x, zero, weights }: Given): number[] {
  const quanta = Array.from(x, (value) => Math.min(255, Math.max(0, roundHalfToEven(value) + zero)) - zero);
  return Array.from({ length: m * n }, (_, place) => {
    const [row, column] = [Math.floor(place / n), place % n];
    let sum = 0;
    for (let at = 0; at < k; at += 1) sum += quanta[row * k + at]! * weights[at * n + column]!;
    return sum;
  });
}

/** Numbers of both signs up to `max`, most of them small where `spread` is large. */
function numbers(length: number, seed: number, max: number, spread: number): Float32Array {
  return Float32Array.from(
    randomNumbers(length, seed),
    (value) => Math.sign(value - 0.5) * max * Math.abs(value * 2 - 1) ** spread,
  );
}

type Drawn = [shape: Omit<Given, "x" | "weights"> & { readonly seed: number }, max: number, spread: number, splits: number];

describe("products of bytes", () => {
  const shapes = fc.record({ m: size(10), n: size(20), k: size(90), zero: fc.nat(255), seed: fc.nat(99) });

  it("are exact, whether sums are kept in 16 bits or not, with and without the relaxed instruction", () => {
    const paths = new Set<boolean>();
    // Of each path one case, however the others are drawn.
    const wide: Drawn = [{ m: 5, n: 9, k: 90, zero: 0, seed: 1 }, 300, 1, 2];
    const narrow: Drawn = [{ m: 5, n: 9, k: 33, zero: 20, seed: 1 }, 20, 4, 2];
    fc.assert(
      fc.property(
        shapes,
        fc.constantFrom(20, 300),
        fc.constantFrom(1, 4),
        size(3),
        ({ m, n, k, zero, seed }, max, spread, splits) => {
          const weights = numbers(k * n, seed + 1, 64, spread).map(Math.round);
          const given: Given = { m, n, k, zero, weights, x: numbers(m * k, seed, max, 2) };
          expect(fitsBytes({ values: weights, k, n })).toBe(true);
          for (const set of featureSets) {
            const { c, norm } = run(given, "int32", splits, set);
            expect([...c]).toEqual(sums(given));
            paths.add(norm <= maxNormProduct);
          }
        },
      ),
      { numRuns: amount(60, 12), examples: [wide, narrow] },
    );
    expect(paths.size).toBe(2);
  });

  it("are exact where all is as large as it gets, and as large as 16 bits just hold", () => {
    const extremes = (value: number, zero: number, weights: (row: number, column: number) => number, k = 256): void => {
      const [m, n] = [5, 9];
      const values = Int32Array.from({ length: k * n }, (_, place) => weights(Math.floor(place / n), place % n));
      const given: Given = { m, n, k, zero, weights: values, x: new Float32Array(m * k).fill(value) };
      expect(fitsBytes({ values, k, n })).toBe(true);
      for (const set of featureSets) expect([...run(given, "int32", 1, set).c]).toEqual(sums(given));
    };
    for (const sign of [1, -1]) {
      extremes(1000, 0, () => sign * 64);
      extremes(-1000, 255, () => sign * 64);
      extremes(1000, 0, (row) => (row % 2 === 0 ? sign * 127 : sign));
      extremes(-1000, 255, (row) => (row % 2 === 0 ? -128 : 127));
      // A run of equal products just fits, and with quanta larger by 1 it does not.
      const last = Math.floor(maxNormProduct / (runSteps * 2 * 64));
      for (const quantum of [last, last + 1, -last, -last - 1])
        extremes(quantum, 100, (_, column) => (column % 2 === 0 ? sign * 64 : -sign * 64), runSteps * stepDepth);
    }
  });

  it("end in float32 with scales, bias, activation and residual", () => {
    const output = { bScale: "column", bias: true, activation: "relu", residual: "after-activation" } as const;
    const [m, n, k] = [7, 21, 40];
    const weights = numbers(k * n, 1, 64, 1).map(Math.round);
    const given: Given = { m, n, k, zero: 90, weights, x: numbers(m * k, 2, 90, 2) };
    const wanted = sums(given).map((sum, place) => {
      const column = place % n;
      return Math.max(0, sum * tails.bScale[column]! + tails.bias[column]!) + tails.residual[place]!;
    });
    for (const set of featureSets) expect(largestError(run(given, output, 2, set).c as Float32Array, wanted)).toBeLessThan(1e-5);
  });

  it("keeps a number that is none to its own row", () => {
    const [m, n, k] = [6, 9, 100];
    const weights = numbers(k * n, 1, 64, 1).map(Math.round);
    const x = numbers(m * k, 2, 30, 2);
    const wanted = sums({ m, n, k, zero: 120, weights, x });
    x[2 * k + 7] = Number.NaN;
    for (const set of featureSets) {
      const { c } = run({ m, n, k, zero: 120, weights, x }, "int32", 1, set);
      const others = (values: ArrayLike<number>) => Array.from(values).filter((_, place) => Math.floor(place / n) !== 2);
      expect(others(c)).toEqual(others(wanted));
    }
  });

  it("refuses weights that are no bytes, or whose pairs could overflow", () => {
    const fits = (...values: number[]) => fitsBytes({ values, k: values.length, n: 1 });
    expect(fits(64, 64, -64, -64)).toBe(true);
    expect(fits(127, -128)).toBe(true);
    expect(fits(1, 65, 64)).toBe(true); // of two pairs
    expect(fits(64, 65)).toBe(false);
    expect(fits(-64, -65)).toBe(false);
    expect(fits(128)).toBe(false);
    expect(fits(0, -129)).toBe(false);
  });

  it("knows what the machine's instruction does with bytes above 127", () => {
    expect(["unsigned", "signed", "none"]).toContain(features.byteDot);
    expect(features.byteDot === "none" || features.relaxedSimd).toBe(true);
  });
});
