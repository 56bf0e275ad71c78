import { describe, expect, it } from "vitest";
import { KernelMemory, randomFloats } from "../../../../../../test/engine/kernel-memory.ts";
import { type BlockFormat, decodeBlocks } from "../../../../../formats/gguf/blocks/block-format.ts";
import { blockFormats } from "../../../../../formats/gguf/blocks/index.ts";
import { scaledBlockName, scaledBlocks } from "../../../../../formats/scaled-blocks/block-formats.ts";
import { activationRowBytes, blockLayout, packedBlockBytes } from "./block-layout.ts";
import { type BlockMatmulRequest, blockMatmul } from "./block-matmul.ts";
import { gatherBlockRows } from "./gather-rows.ts";
import { packBlocks, unpackBlocks } from "./pack-blocks.ts";
import { quantizeActivationBytes } from "./quantize-activation-bytes.ts";
import { quantizeActivations } from "./quantize-activations.ts";

/** The formats of `scaled-blocks`, by name. */
const scaled = ([2, 4, 8] as const).flatMap((bits) =>
  [16, 32, 64, 128].flatMap((elements) => [false, true].map((hasMins) => ({ bits, elements, hasMins }))),
);
const formats: Readonly<Record<string, BlockFormat>> = {
  ...blockFormats,
  ...Object.fromEntries(scaled.map((shape) => [scaledBlockName(shape), scaledBlocks(shape)])),
};

function decoded(type: string, bytes: Uint8Array, elements: number): Float32Array {
  const values = new Float32Array(elements);
  decodeBlocks(formats[type]!, bytes, values);
  return values;
}

/** Blocks of a type with random codes and scales around 1, or the numbers `scale` in their place. */
function randomBlocks(type: string, count: number): Uint8Array {
  const format = formats[type]!;
  const bytes = Uint8Array.from({ length: format.bytes * count }, (_, index) => Math.imul(index + 7, 0x9e3779b1) >>> 24);
  // float16 scales of any exponent but the highest one: no infinities and no NaN.
  const layouts: Readonly<Record<string, readonly number[]>> = {
    Q2_K: [80, 82],
    Q3_K: [108],
    Q4_K: [0, 2],
    Q5_K: [0, 2],
    Q6_K: [208],
    TQ1_0: [52],
    TQ2_0: [64],
    Q4_1: [0, 2],
    Q5_1: [0, 2],
  };
  if (type.startsWith("int")) {
    const view = new DataView(bytes.buffer);
    for (let block = 0; block < count; block += 1) {
      view.setFloat32(block * format.bytes, (block % 7) / 16 - 0.2, true);
      if (format.hasMins) view.setFloat32(block * format.bytes + 4, (block % 5) / 4 - 0.5, true);
    }
  } else if (type === "MXFP4") for (let block = 0; block < count; block += 1) bytes[block * format.bytes] = 120 + (block % 9);
  else if (type === "IQ1_M") return bytes.map((byte, index) => (index % 56 >= 48 && index % 2 === 1 ? byte & 0x3f : byte));
  else {
    for (let block = 0; block < count; block += 1)
      for (const at of layouts[type] ?? [0])
        bytes[block * format.bytes + at + 1] = 0x28 + (block % 16) + (block % 3 === 0 ? 0x80 : 0);
  }
  return bytes;
}

interface Result {
  readonly c: Float32Array;
  /** With the activations as they are quantized, in float64. */
  readonly expected: Float64Array;
  /** Sum of the magnitudes of the terms of each element. */
  readonly magnitudes: Float64Array;
}

/** The activation of position p in a row that begins at byte `row`, as it is quantized. */
function shortActivation(view: DataView, row: number, p: number): number {
  const group = row + Math.floor(p / 32) * 80;
  return view.getInt16(group + 2 * (p % 32), true) * view.getFloat32(group + 64, true);
}

function byteActivation(view: DataView, row: number, p: number, elements: number): number {
  const group = row + Math.floor(p / elements) * (elements + 8);
  return view.getInt8(group + (p % elements)) * view.getFloat32(group + elements, true);
}

function multiplied(type: string, request: Omit<BlockMatmulRequest, "format">, activations?: Float32Array): Result {
  const { m, n, k } = request;
  const format = formats[type]!;
  const layout = blockLayout(format);
  const stored = randomBlocks(type, (n * k) / format.elements);
  const x = activations ?? randomFloats(m * k, 1);
  const bias = randomFloats(n, 2);
  const residual = randomFloats(m * n, 3);
  const memory = new KernelMemory(256 * 1024 + 8 * m * (k + n) * 4 + 2 * packedBlockBytes(layout, k, n) + 32 * k);
  const b = memory.room(Uint8Array, packedBlockBytes(layout, k, n));
  packBlocks(b.data, { format, k, n, bytes: stored });
  const a = memory.room(Uint8Array, m * activationRowBytes(layout, k));
  const elements = layout.superElements;
  const isTernary = layout.depth === 4;
  const quantize = isTernary
    ? quantizeActivationBytes({ rows: m, columns: k, elements })
    : quantizeActivations({ rows: m, columns: k });
  memory.run(quantize, [memory.put(x).offset, a.offset], 2);
  const activationAt = isTernary ? byteActivation : shortActivation;
  const kernel = blockMatmul({ ...request, format });
  const c = memory.room(Float32Array, m * n);
  const scratch = memory.room(Uint8Array, kernel.scratchBytes);
  const offsets: Readonly<Record<string, number>> = {
    a: a.offset,
    b: b.offset,
    c: c.offset,
    scratch: scratch.offset,
    bias: memory.put(bias).offset,
    residual: memory.put(residual).offset,
  };
  memory.run(
    kernel,
    kernel.parameters.map((name) => offsets[name]!),
    3,
  );
  const weights = decoded(type, stored, n * k);
  const expected = new Float64Array(m * n);
  const magnitudes = new Float64Array(m * n);
  const view = new DataView(a.data.buffer, a.data.byteOffset);
  for (let i = 0; i < m; i += 1)
    for (let j = 0; j < n; j += 1) {
      let [sum, magnitude] = [0, 0];
      for (let p = 0; p < k; p += 1) {
        const term = activationAt(view, i * activationRowBytes(layout, k), p, elements) * weights[j * k + p]!;
        sum += term;
        magnitude += Math.abs(term);
      }
      if (request.bias === true) sum += bias[j]!;
      if (request.residual === "before-activation") sum += residual[i * n + j]!;
      if (request.activation === "relu") sum = Math.max(0, sum);
      expected[i * n + j] = sum;
      magnitudes[i * n + j] = magnitude + 2;
    }
  return { c: c.data.slice(), expected, magnitudes };
}

/** Largest difference, relative to the magnitudes of the terms. */
function largestDifference({ c, expected, magnitudes }: Result): number {
  return Math.max(...c.map((value, index) => Math.abs(value - expected[index]!) / magnitudes[index]!));
}

const types = Object.keys(formats);

describe("products with quantized weights", () => {
  it.each(types)("of type %s are those of the definition, for one row and for several", (type) => {
    for (const [m, n] of [
      [1, 24],
      [1, 13],
      [3, 8],
      [4, 16],
      [9, 21],
    ] as const)
      expect(largestDifference(multiplied(type, { m, n, k: 512 })), `${m} x ${n}`).toBeLessThan(2e-6);
  });

  it.each(["Q8_0", "Q4_0", "Q5_1", "Q4_K", "Q6_K", "TQ2_0", "int4 of 16 with minimum"])(
    "of type %s give a row the same bits alone and among others",
    (type) => {
      const x = randomFloats(7 * 256, 5);
      const all = multiplied(type, { m: 7, n: 19, k: 256 }, x).c;
      for (let row = 0; row < 7; row += 1) {
        const alone = multiplied(type, { m: 1, n: 19, k: 256 }, x.slice(row * 256, (row + 1) * 256)).c;
        expect(all.slice(row * 19, (row + 1) * 19)).toEqual(alone);
      }
    },
  );

  it("add a bias and a residual, and apply an activation", () => {
    const request = { n: 21, k: 256, bias: true, residual: "before-activation", activation: "relu" } as const;
    for (const m of [1, 6]) expect(largestDifference(multiplied("Q4_K", { m, ...request }))).toBeLessThan(2e-6);
  });

  it("of zeros are zero, of tiny numbers are finite, and of what is not finite are NaN", () => {
    const given = (value: number): Float32Array =>
      randomFloats(256, 5).map((each, index) => (index === 40 ? value : each * 2 ** -140));
    expect(multiplied("Q8_0", { m: 1, n: 8, k: 256 }, new Float32Array(256)).c.every((value) => value === 0)).toBe(true);
    expect(multiplied("Q8_0", { m: 1, n: 8, k: 256 }, given(0)).c.every(Number.isFinite)).toBe(true);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(multiplied("Q8_0", { m: 1, n: 8, k: 256 }, given(value)).c.every(Number.isNaN)).toBe(true);
  });
});

describe("packed blocks", () => {
  // docs/guide/gguf.md states these.
  it.each([
    [["Q8_0", "Q4_K", "Q5_K", "Q6_K", "TQ2_0"], 1.06],
    [["Q4_0", "Q5_0"], 1.112],
    [["Q4_1", "Q5_1", "Q2_K", "Q3_K", "TQ1_0", "MXFP4"], 1.42],
  ] as const)("of %s take at most %f times the bytes of the file", (names, limit) => {
    for (const type of names) {
      const { elements, bytes, ...format } = formats[type]!;
      expect(packedBlockBytes(blockLayout({ elements, ...format }), elements, 8) / (8 * bytes), type).toBeLessThanOrEqual(limit);
    }
  });

  it.each(types)("of type %s hold their values bit for bit", (type) => {
    const format = formats[type]!;
    const [k, n] = [512, 11];
    const bytes = randomBlocks(type, (k * n) / format.elements);
    const packed = new Uint8Array(packedBlockBytes(blockLayout(format), k, n));
    packBlocks(packed, { format, k, n, bytes });
    const values = unpackBlocks(packed, { format, k, n });
    const rows = decoded(type, bytes, k * n);
    expect(values.every((value, index) => Object.is(value, rows[(index % n) * k + Math.floor(index / n)]))).toBe(true);
  });
});

describe("rows of quantized tables", () => {
  it.each(types)("of type %s have their values bit for bit", (type) => {
    const format = formats[type]!;
    const [k, n] = [512, 19];
    const stored = randomBlocks(type, (k * n) / format.elements);
    const packed = new Uint8Array(packedBlockBytes(blockLayout(format), k, n));
    packBlocks(packed, { format, k, n, bytes: stored });
    const memory = new KernelMemory();
    const index = Int32Array.of(0, 18, 7, -1, 8);
    const y = memory.room(Float32Array, index.length * k);
    const kernel = gatherBlockRows({ n, k, count: index.length, format, indexType: "int32" });
    expect(memory.run(kernel, [memory.put(packed).offset, memory.put(index).offset, y.offset], 2)).toBe(0);
    const rows = decoded(type, stored, k * n);
    const wanted = [0, 18, 7, 18, 8].flatMap((row) => [...rows.subarray(row * k, (row + 1) * k)]);
    expect(y.data.every((value, at) => Object.is(value, wanted[at]))).toBe(true);
    const wrong = memory.put(Int32Array.of(19, 0, 0, 0, 0));
    expect(memory.run(kernel, [memory.put(packed).offset, wrong.offset, y.offset])).toBe(1);
  });
});
