import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  KernelMemory,
  featureSets,
  largestError,
  randomFloats,
  randomNumbers,
} from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { type IntegerMatmulRequest, integerMatmul } from "./integer-matmul.ts";
import { packIntegerWeights, packedIntegerLength } from "./integer-packing.ts";
import { subtractZeroPoint, quantizationRange, quantize } from "./quantize.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const bytes = (count: number, seed: number) => Uint8Array.from(randomNumbers(count, seed), (value) => Math.floor(value * 256));

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor === 0.5) return floor % 2 === 0 ? floor : floor + 1;
  return Math.round(value);
}

/** DynamicQuantizeLinear in float32, operation by operation as ONNX's page has it. */
function quantized(row: Float32Array): { scale: number; zero: number; y: number[] } {
  const { fround } = Math;
  const min = Math.min(0, ...row);
  const width = fround(Math.max(0, ...row) - min);
  const scale = width === 0 ? 1 : fround(width / 255);
  const between = (value: number) => Math.min(255, Math.max(0, value));
  const zero = roundHalfToEven(between(fround(0 - fround(min / scale))));
  return { scale, zero, y: Array.from(row, (value) => between(roundHalfToEven(fround(value / scale)) + zero)) };
}

describe("dynamic quantisation", () => {
  it("equals ONNX's definition to the bit, of rows of any values", () => {
    const ranges = fc.constantFrom([-1, 1], [0.5, 2], [-3, -1], [0, 0], [-1e-3, 1e4]);
    fc.assert(
      fc.property(size(4), size(20), ranges, size(3), (rows, half, [min, max], splits) => {
        const columns = 2 * half;
        const x = Float32Array.from(randomNumbers(rows * columns, 1), (value) => min + value * (max - min));
        const memory = new KernelMemory();
        const [given, scale, zero] = [memory.put(x), memory.room(Float32Array, rows), memory.room(Uint8Array, rows)];
        const centred = memory.room(Int16Array, rows * columns);
        memory.run(quantizationRange({ rows, columns }), [given.offset, scale.offset, zero.offset], splits);
        for (let row = 0; row < rows; row += 1) {
          const wanted = quantized(x.subarray(row * columns, (row + 1) * columns));
          expect([scale.data[row], zero.data[row]]).toEqual([wanted.scale, wanted.zero]);
        }
        const wanted = quantized(x);
        memory.run(quantizationRange({ rows: 1, columns: x.length }), [given.offset, scale.offset, zero.offset], splits);
        memory.run(quantize({ rows, columns }), [given.offset, scale.offset, zero.offset, centred.offset], splits);
        expect([...centred.data]).toEqual(wanted.y.map((value) => value - wanted.zero));
      }),
      { numRuns: amount(100, 30) },
    );
  });

  it("says NaN of a row that holds one, wherever it is", () => {
    for (const place of [0, 5, 66, 68]) {
      const x = randomFloats(69, 1);
      x[place] = Number.NaN;
      const memory = new KernelMemory();
      const [given, scale, zero] = [memory.put(x), memory.room(Float32Array, 1), memory.room(Uint8Array, 1)];
      memory.run(quantizationRange({ rows: 1, columns: 69 }), [given.offset, scale.offset, zero.offset]);
      expect([scale.data[0], zero.data[0]]).toEqual([Number.NaN, 0]);
    }
  });

  it("rounds halves to even, as ONNX's own example does", () => {
    const x = Float32Array.of(0, 2, -3, -2.5, 1.34, 0.5);
    const memory = new KernelMemory();
    const [given, scale, zero, y] = [
      memory.put(x),
      memory.room(Float32Array, 1),
      memory.room(Uint8Array, 1),
      memory.room(Int16Array, 6),
    ];
    memory.run(quantizationRange({ rows: 1, columns: 6 }), [given.offset, scale.offset, zero.offset]);
    const kernel = quantize({ rows: 1, columns: 6 });
    memory.run(kernel, [given.offset, scale.offset, zero.offset, y.offset]);
    expect(scale.data[0]).toBeCloseTo(0.0196078438, 9);
    expect([zero.data[0], ...y.data]).toEqual([153, 0, 102, -153, -127, 68, 26]);
  });
});

interface Weighted extends IntegerMatmulRequest {
  readonly aType: "uint8" | "int8";
}

function expectProduct({ m, n, k, weightBytes, output, aType }: Weighted, splits: number, set = featureSets[0]!): void {
  const signed = (values: Uint8Array, isSigned: boolean) => (isSigned ? new Int8Array(values.buffer) : values);
  const a = signed(bytes(m * k, 1), aType === "int8");
  const aZero = aType === "int8" ? -7 : 130;
  const weights = Array.from(bytes(k * n, 2), (value) => value - (weightBytes === 1 ? 128 : 200));
  const memory = new KernelMemory(1024 * 1024);
  const packed = memory.room(Uint8Array, packedIntegerLength({ k, n, weightBytes }));
  packIntegerWeights(packed.data, weights, { k, n, weightBytes });
  const centred = memory.room(Int16Array, m * k);
  const zeroAt = memory.put(aType === "int8" ? Int8Array.of(aZero) : Uint8Array.of(aZero));
  const given = memory.put(a);
  memory.run(
    subtractZeroPoint({ rows: m, columns: k, type: aType, zeroPoint: true }),
    [given.offset, zeroAt.offset, centred.offset],
    splits,
  );
  const float = output === "int32" ? undefined : output;
  const tails = {
    aScale: memory.put(randomFloats(1, 4, 0.01)),
    bScale: memory.put(randomFloats(float?.bScale === "column" ? n : 1, 5, 0.01)),
    bias: memory.put(randomFloats(n, 6)),
    residual: memory.put(randomFloats(m * n, 7)),
  };
  const c = memory.room<Int32Array | Float32Array>(float === undefined ? Int32Array : Float32Array, m * n);
  const offsets: Readonly<Record<string, number>> = {
    a: centred.offset,
    b: packed.offset,
    c: c.offset,
    ...Object.fromEntries(Object.entries(tails).map(([name, { offset }]) => [name, offset])),
  };
  const kernel = integerMatmul({ m, n, k, weightBytes, output });
  memory.run(
    kernel,
    kernel.parameters.map((name) => offsets[name]!),
    splits,
    set,
  );
  const wanted = Array.from({ length: m * n }, (_, place) => {
    const [row, column] = [Math.floor(place / n), place % n];
    let sum = 0;
    for (let x = 0; x < k; x += 1) sum += (a[row * k + x]! - aZero) * weights[x * n + column]!;
    if (float === undefined) return sum;
    const scale = tails.aScale.data[0]! * tails.bScale.data[float.bScale === "column" ? column : 0]!;
    const value = sum * scale + (float.bias === true ? tails.bias.data[column]! : 0);
    const activated = float.activation === "relu" ? Math.max(value, 0) : float.activation === "tanh" ? Math.tanh(value) : value;
    return activated + (float.residual === "after-activation" ? tails.residual.data[place]! : 0);
  });
  expect(c.data instanceof Int32Array ? [...c.data] : wanted).toEqual(wanted);
  expect(c.data instanceof Int32Array ? 0 : largestError(c.data, wanted)).toBeLessThan(1e-5);
}

describe("products of integers", () => {
  const kinds = fc.record({
    m: size(13),
    n: size(30),
    k: size(18).map((half) => 2 * half),
    weightBytes: fc.constantFrom(1, 2),
    aType: fc.constantFrom("uint8", "int8"),
  });
  const floats = fc.record({
    bScale: fc.constantFrom("tensor", "column"),
    bias: fc.boolean(),
    activation: fc.constantFrom("none", "relu", "tanh"),
    residual: fc.constantFrom("none", "after-activation"),
  });

  it("are exact, with weights of a byte and of two", () => {
    fc.assert(
      fc.property(kinds, size(3), (request, splits) => expectProduct({ ...request, output: "int32" }, splits)),
      { numRuns: amount(120, 30) },
    );
  });

  it("end in float32 with scales, bias, activation and residual", () => {
    fc.assert(
      fc.property(kinds, floats, size(3), fc.constantFrom(...featureSets), (request, output, splits, set) =>
        expectProduct({ ...request, output }, splits, set),
      ),
      { numRuns: amount(120, 30) },
    );
  });

  it("does not overflow where everything is as large as it gets", () => {
    const k = 4096;
    const shape = { k, n: 1, weightBytes: 2 } as const;
    const memory = new KernelMemory();
    const packed = memory.room(Uint8Array, packedIntegerLength(shape));
    packIntegerWeights(packed.data, new Uint8Array(k).fill(255), shape);
    const a = memory.put(new Int16Array(k).fill(-255));
    const c = memory.room(Int32Array, 1);
    memory.run(integerMatmul({ m: 1, ...shape, output: "int32" }), [a.offset, packed.offset, c.offset]);
    expect(c.data[0]).toBe(-255 * 255 * k);
  });
});
