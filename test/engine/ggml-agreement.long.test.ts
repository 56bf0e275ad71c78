/**
 * Agreement with ggml itself, called through its C functions: every decoder of blocks bit for bit, quantizers, and every kernel of `native` that multiplies
 * quantized weights. On random blocks with scales of all kinds (subnormal, infinite and NaN for decoders), and on sizes from one block up.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { activationRowBytes, blockLayout, packedBlockBytes } from "../../src/engine/codegen/wasm/kernels/blocks/block-layout.ts";
import { blockMatmul } from "../../src/engine/codegen/wasm/kernels/blocks/block-matmul.ts";
import { packBlocks } from "../../src/engine/codegen/wasm/kernels/blocks/pack-blocks.ts";
import { quantizeActivationBytes } from "../../src/engine/codegen/wasm/kernels/blocks/quantize-activation-bytes.ts";
import { quantizeActivations } from "../../src/engine/codegen/wasm/kernels/blocks/quantize-activations.ts";
import { encodeTensor } from "../../src/formats/gguf/blocks/encode.ts";
import { blockFormats, decodeTensor } from "../../src/formats/gguf/blocks/index.ts";
import { ternaryBlocks, ternaryFormat } from "../../src/formats/gguf/blocks/ternary.ts";
import { ForeignFunctions } from "../../src/libraries/ffi/index.ts";
import { amount } from "../fixtures/slow.ts";
import { packaged } from "../libraries/fixtures/native-libraries.ts";
import { GgmlRows } from "./fixtures/ggml-rows.ts";
import { KernelMemory } from "./kernel-memory.ts";

const folder = dirname(packaged.ggmlHaswell);
const reason = await ForeignFunctions.load().then(
  () => (existsSync(packaged.ggmlHaswell) ? undefined : `${folder} is not installed`),
  (error: unknown) => String(error),
);
const seed = 20;

/** Bytes of a generator; `next` gives 32 random bits. */
function randomBytes(length: number, start: number): Uint8Array {
  let state = start >>> 0;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

/** Normally distributed values; some rows have one value much larger than the others, as activations have. */
function randomValues(length: number, start: number): Float32Array {
  const bytes = randomBytes(length * 8, start);
  const view = new DataView(bytes.buffer);
  const spike = start % length;
  return Float32Array.from({ length }, (_, index) => {
    const [u, v] = [(view.getUint32(index * 8) + 1) / 2 ** 32, view.getUint32(index * 8 + 4) / 2 ** 32];
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v) * (index === spike ? 20 : 1);
  });
}

/** The bits of float32 values; all NaN are one. */
function bitsOf(values: Float32Array): Uint32Array {
  const bits = new Uint32Array(values.buffer.slice(values.byteOffset, values.byteOffset + values.byteLength));
  return bits.map((each, index) => (Number.isNaN(values[index]) ? 0x7fc0_0000 : each));
}

describe.skipIf(reason !== undefined)(`ggml${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  let ggml: GgmlRows;
  beforeAll(async () => (ggml = await GgmlRows.open(folder)));

  it("has every type of blocks that we decode", () => {
    const decoded = Object.keys(blockFormats);
    expect(decoded.filter((type) => ggml.types.get(type)?.canDecode !== true)).toEqual([]);
    // And those that we do not: no file of them is decoded.
    const others = [...ggml.types.values()]
      .filter(({ canDecode, name }) => canDecode && !decoded.includes(name))
      .map(({ name }) => name);
    expect(others).toEqual(["F32", "F16", "BF16", "NVFP4", "Q1_0", "Q2_0"]);
  });

  describe.each([...Object.keys(blockFormats), "F16", "BF16", "F32"])("%s", (type) => {
    it("is decoded bit for bit, whatever the bytes", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 33 }), fc.nat(), (blocks, start) => {
          const { blockBytes, blockElements } = ggml.types.get(type)!;
          const bytes = randomBytes(blocks * blockBytes, start);
          const own = decodeTensor(type, bytes, blocks * blockElements);
          expect(bitsOf(own)).toEqual(bitsOf(ggml.toFloat(type, bytes)));
        }),
        { numRuns: amount(80, 25), seed },
      );
    });

    it("is decoded bit for bit with scales that are subnormal, infinite and NaN", () => {
      const { blockBytes, blockElements } = ggml.types.get(type)!;
      // Every float16 and every e8m0 that can be a scale is at some pair of bytes of some block: all pairs of bytes at every even offset.
      for (const [low, high] of [
        [1, 0],
        [0xff, 3],
        [0, 0x80],
        [0, 0x7c],
        [0, 0xfc],
        [1, 0x7c],
        [0xff, 0xff],
        [0xff, 0x7b],
      ] as const) {
        for (let at = 0; at + 1 < blockBytes + 1; at += 1) {
          const bytes = randomBytes(blockBytes, at + 1);
          bytes[at] = low;
          if (at + 1 < blockBytes) bytes[at + 1] = high;
          expect(bitsOf(decodeTensor(type, bytes, blockElements))).toEqual(bitsOf(ggml.toFloat(type, bytes)));
        }
      }
    });
  });

  describe("quantizers", () => {
    it.each(["Q8_0", "Q4_0", "TQ2_0", "F16"] as const)("%s gives the bytes of ggml's reference", (type) => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 9 }),
          fc.nat(),
          fc.constantFrom(1, 1e-3, 1e-6, 1e-20, 300),
          (blocks, start, factor) => {
            const { blockElements } = ggml.types.get(type)!;
            const values = randomValues(Math.max(blockElements, 32) * blocks, start).map((value) => value * factor);
            expect(encodeTensor(type, values)).toEqual(ggml.fromFloat(type, values));
          },
        ),
        { numRuns: amount(80, 25), seed },
      );
    });

    it("Q4_K is at most 2 % further from the values than ggml's, over 400 blocks", () => {
      const values = randomValues(256 * 400, 7);
      const decoded = [encodeTensor("Q4_K", values), ggml.fromFloat("Q4_K", values)].map((bytes) => ggml.toFloat("Q4_K", bytes));
      const [own, theirs] = decoded.map((numbers) =>
        Math.sqrt(numbers.reduce((sum, value, index) => sum + (value - values[index]!) ** 2, 0)),
      );
      console.log(`Q4_K: ${(own! / theirs!).toFixed(4)} of ggml's error`);
      expect(own! / theirs!).toBeLessThan(1.02);
    });
  });

  describe.each(Object.keys(blockFormats))("products with %s", (type) => {
    it("of our kernel and of ggml's differ by no more than the activations are rounded", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 19 }), fc.nat(), (blocks, rows, start) => {
          const { elements } = blockFormats[type]!;
          const { activationType } = ggml.types.get(type)!;
          const columns = elements * blocks;
          const stored = weightsOf(type, rows * columns, start);
          const vector = randomValues(columns, start + 1);
          const own = multiplied(type, stored, rows, vector);
          const theirs = ggml.multiplier(type, columns)(stored, vector);
          const weights = ggml.toFloat(type, stored);
          const block = activationType === "Q8_K" ? 256 : 32;
          for (let row = 0; row < rows; row += 1) {
            const bound = roundingBound(weights.subarray(row * columns, (row + 1) * columns), vector, block, isTernary(type));
            expect(Math.abs(own[row]! - theirs[row]!), `${type} row ${row} of ${rows} with ${columns}`).toBeLessThanOrEqual(
              bound,
            );
          }
        }),
        { numRuns: amount(15, 3), seed },
      );
    });
  });

  it("the form to which TL1 and TL2 are repacked multiplies as TQ2_0 of ggml does", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 }), fc.nat(), (blocks, rows, start) => {
        const columns = 256 * blocks;
        const codes = Int8Array.from(randomBytes(rows * columns, start), (byte) => (byte % 3) - 1);
        const vector = randomValues(columns, start + 1);
        const stored = encodeTensor(
          "TQ2_0",
          Float32Array.from(codes, (code) => code / 8),
        );
        const theirs = ggml.multiplier("TQ2_0", columns)(stored, vector);
        for (const elements of [128, 64, 32] as const) {
          const format = ternaryFormat(elements);
          const own = multipliedBlocks(format, ternaryBlocks(codes, 1 / 8, elements), rows, vector);
          for (let row = 0; row < rows; row += 1) {
            const weights = Float32Array.from(codes.subarray(row * columns, (row + 1) * columns), (code) => code / 8);
            const bound = roundingBound(weights, vector, 256, true);
            expect(Math.abs(own[row]! - theirs[row]!)).toBeLessThanOrEqual(bound);
          }
        }
      }),
      { numRuns: amount(20, 7), seed },
    );
  });

  /** Blocks with finite scales: quantized by ggml where it can, else random codes with scales of a type's usual size. */
  function weightsOf(type: string, count: number, start: number): Uint8Array {
    const { canQuantize, blockBytes, blockElements } = ggml.types.get(type)!;
    if (canQuantize) return ggml.fromFloat(type, randomValues(count, start));
    const bytes = randomBytes((count / blockElements) * blockBytes, start);
    for (let at = 0; at < bytes.length; at += blockBytes) {
      // float16 between 2^-6 and 2^-2. IQ1_M has its scale in the upper four bits of four numbers of 16 bits at the end.
      const scale = 0x2400 + ((start + at) % 0x1000);
      if (type === "IQ1_M")
        for (let part = 0; part < 4; part += 1) {
          const to = at + blockBytes - 8 + 2 * part + 1;
          bytes[to] = (bytes[to]! & 0x0f) | (((scale >> (4 * part)) & 15) << 4);
        }
      else bytes.set([scale & 0xff, scale >> 8], at);
    }
    return bytes;
  }
});

function isTernary(type: string): boolean {
  return type === "TQ1_0" || type === "TQ2_0";
}

/**
 * The most by which two products of the same weights may differ, if ggml rounds activations to 8 bits in blocks (Dettmers et al. 2022, absmax) and we to 16, or to 8
 * for ternary weights. Rounding moves an activation by at most half a step; the scales of ggml's blocks and the sums of its Q8_1 are float16, with 11 bits.
 */
function roundingBound(weights: Float32Array, vector: Float32Array, block: number, ternary: boolean): number {
  let [bound, largestWeight, sum] = [0, 0, 0];
  for (let from = 0; from < vector.length; from += block) {
    let [largest, magnitudes] = [0, 0];
    for (let index = from; index < Math.min(from + block, vector.length); index += 1) {
      largest = Math.max(largest, Math.abs(vector[index]!));
      magnitudes += Math.abs(weights[index]!);
      largestWeight = Math.max(largestWeight, Math.abs(weights[index]!));
      sum += Math.abs(vector[index]!);
    }
    bound += largest * magnitudes * (1.02 / 254 + (ternary ? 1.02 / 254 : 1 / 65_000));
  }
  return bound + largestWeight * sum * 2 ** -10 + 1e-6;
}

function multiplied(type: string, stored: Uint8Array, rows: number, vector: Float32Array): Float32Array {
  return multipliedBlocks(blockFormats[type]!, stored, rows, vector);
}

/** The product of our kernel, without bias. */
function multipliedBlocks(
  format: (typeof blockFormats)[string],
  stored: Uint8Array,
  n: number,
  vector: Float32Array,
): Float32Array {
  const k = vector.length;
  const layout = blockLayout(format);
  const memory = new KernelMemory(256 * 1024 + 16 * (k + n) * 4 + 2 * packedBlockBytes(layout, k, n) + 32 * k);
  const b = memory.room(Uint8Array, packedBlockBytes(layout, k, n));
  packBlocks(b.data, { format, k, n, bytes: stored });
  const a = memory.room(Uint8Array, activationRowBytes(layout, k));
  const quantize =
    layout.depth === 4
      ? quantizeActivationBytes({ rows: 1, columns: k, elements: layout.superElements })
      : quantizeActivations({ rows: 1, columns: k });
  memory.run(quantize, [memory.put(vector).offset, a.offset], 1);
  const kernel = blockMatmul({ m: 1, n, k, format });
  const c = memory.room(Float32Array, n);
  const scratch = memory.room(Uint8Array, kernel.scratchBytes);
  const offsets: Readonly<Record<string, number>> = { a: a.offset, b: b.offset, c: c.offset, scratch: scratch.offset };
  memory.run(
    kernel,
    kernel.parameters.map((name) => offsets[name]!),
    1,
  );
  return c.data.slice();
}
