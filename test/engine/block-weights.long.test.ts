/** MatMulNBits with constant weights: they stay in blocks, and the products are those of onnxruntime. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelFiles } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { InferenceSession, Tensor as RuntimeTensor } from "onnxruntime-node";
import { afterAll, describe, expect, it } from "vitest";
import { decodeFloat, encodeFloat } from "../../src/contract/small-floats.ts";
import { integer, message, model, node, tensorOf, value } from "../fixtures/models/onnx-bytes.ts";

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

const folder = mkdtempSync(join(tmpdir(), "inferyard-block-weights-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Product {
  readonly k: number;
  readonly n: number;
  readonly bits: 2 | 4 | 8;
  readonly block: number;
  readonly zeros?: "integers" | "floats";
  readonly type?: "float32" | "float16";
  readonly bias?: boolean;
  readonly accuracy?: 0 | 4;
  /** Whether the weights are declared as inputs, whose value a run may replace. */
  readonly isInput?: boolean;
}

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A model of one MatMulNBits with random weights. */
function bytesOf({ k, n, bits, block, zeros, type = "float32", bias = false, accuracy = 0, isInput = false }: Product): Buffer {
  const random = randomNumbers(k * 31 + n);
  const blocks = Math.ceil(k / block);
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => random() * 256);
  const floats = (name: string, shape: readonly number[], from: number, to: number): Buffer => {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => from + random() * (to - from));
    const stored = type === "float32" ? values : Uint16Array.from(values, (each) => encodeFloat("float16", each, false));
    return tensorOf(name, type, shape, stored);
  };
  const zeroBytes = n * Math.ceil((blocks * bits) / 8);
  const attribute = (name: string, each: number): readonly Buffer[] => [message(1, name), integer(3, each), integer(20, 2)];
  const number = type === "float32" ? 1 : 10;
  return model({
    opsets: { "": 21, "com.microsoft": 1 },
    graph: [
      node({
        operator: "MatMulNBits",
        domain: "com.microsoft",
        inputs: ["a", "codes", "scales", zeros === undefined ? "" : "zeros", "", bias ? "bias" : ""],
        outputs: ["y"],
        attributes: [
          attribute("K", k),
          attribute("N", n),
          attribute("bits", bits),
          attribute("block_size", block),
          attribute("accuracy_level", accuracy),
        ],
      }),
      tensorOf("codes", "uint8", [n, blocks, (block * bits) / 8], bytes((n * blocks * block * bits) / 8)),
      floats("scales", [n * blocks], -0.02, 0.05),
      ...(zeros === "integers" ? [tensorOf("zeros", "uint8", [zeroBytes], bytes(zeroBytes))] : []),
      ...(zeros === "floats" ? [floats("zeros", [n, blocks], 0, 2 ** bits - 1)] : []),
      ...(bias ? [floats("bias", [n], -1, 1)] : []),
      value(11, "a", number, ["batch", "rows", k]),
      ...(isInput ? [value(11, "codes", 2, [n, blocks, (block * bits) / 8])] : []),
      value(12, "y", number, ["batch", "rows", n]),
    ],
  });
}

let files = 0;

function write(product: Product): ModelFiles {
  files += 1;
  const path = join(folder, `${files}.onnx`);
  const bytes = bytesOf(product);
  writeFileSync(path, bytes);
  return { format: "onnx", path, bytes: bytes.length, config: {} };
}

interface Results {
  readonly own: Float32Array;
  readonly expected: Float32Array;
}

async function multiplied(product: Product, rows: number): Promise<Results> {
  const { k, type = "float32" } = product;
  const random = randomNumbers(rows);
  const values = Float32Array.from({ length: rows * k }, () => random() * 2 - 1);
  const stored = type === "float32" ? values : Uint16Array.from(values, (each) => encodeFloat("float16", each, false));
  const shape = [1, rows, k];
  const file = write(product);
  const loaded = await ours.load(file, { type: "cpu", index: 0 }, { threads: 1 });
  const { y } = await loaded.run({ a: { dataType: type, shape, data: stored } });
  await loaded.dispose();
  const session = await InferenceSession.create(file.path, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const feed =
    type === "float32" ? new RuntimeTensor("float32", values, shape) : new RuntimeTensor("float16", stored as Uint16Array, shape);
  const results = await session.run({ a: feed });
  const expected = results["y"]!.data as Float32Array | Uint16Array;
  await session.release();
  // onnxruntime gives float16 as Float16Array where there is one.
  const wide = (data: ArrayLike<number>): Float32Array =>
    Float32Array.from(data, (each) => (data instanceof Uint16Array ? decodeFloat("float16", each) : each));
  return { own: wide(y!.data as Float32Array), expected: wide(expected) };
}

/** Largest difference, relative to the largest result. */
function difference({ own, expected }: Results): number {
  expect(own).toHaveLength(expected.length);
  const largest = expected.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  return expected.reduce((most, each, index) => Math.max(most, Math.abs(each - (own[index] ?? Number.NaN))), 0) / largest;
}

describe("MatMulNBits with constant weights", () => {
  const products = ([4, 8] as const).flatMap((bits) =>
    [16, 32, 64, 128].flatMap((block) =>
      [undefined, "integers" as const].map((zeros): Product => ({
        k: 3 * block - 5,
        n: 37,
        bits,
        block,
        ...(zeros && { zeros }),
      })),
    ),
  );
  const named = products.map((product): [string, Product] => [
    `of ${product.bits} bits in blocks of ${product.block}${product.zeros === undefined ? "" : " with zero points"}`,
    product,
  ]);

  it.each(named)("%s has the products of onnxruntime", async (_name, product) => {
    for (const rows of [1, 6]) {
      // Activations are rounded to 16 bits.
      expect(difference(await multiplied(product, rows))).toBeLessThan(1e-4);
      // With accuracy_level 4 onnxruntime rounds them to 8 bits.
      expect(difference(await multiplied({ ...product, accuracy: 4 }, rows))).toBeLessThan(2e-2);
    }
  });

  it("may have zero points in floats, a bias, and two bits", async () => {
    const base: Product = { k: 96, n: 20, bits: 4, block: 32 };
    expect(difference(await multiplied({ ...base, zeros: "floats" }, 3))).toBeLessThan(1e-4);
    expect(difference(await multiplied({ ...base, bias: true }, 3))).toBeLessThan(1e-4);
    expect(difference(await multiplied({ ...base, bits: 2 }, 3))).toBeLessThan(1e-4);
  });

  it("is computed in float32 from activations and scales in float16", async () => {
    const product: Product = { k: 128, n: 24, bits: 4, block: 32, zeros: "integers", type: "float16" };
    expect(difference(await multiplied(product, 4))).toBeLessThan(2e-3);
  });

  it.each([
    [4, 0.5],
    [8, 1],
  ] as const)("of %i bits keeps its weights packed in memory", async (bits, codeBytes) => {
    const [k, n, block] = [1024, 4096, 32];
    const file = write({ k, n, bits, block });
    const loaded = await ours.load(file, { type: "cpu", index: 0 }, { threads: 1 });
    await loaded.run({ a: { dataType: "float32", shape: [1, 1, k], data: new Float32Array(k) } });
    const { bytes, measure } = loaded.memory;
    const packed = k * n * (codeBytes + 4 / block);
    expect(measure).toBe("allocated");
    expect(await loaded.evidence()).toContain(`matrices of MatMulNBits that stay in blocks: 1 in int${bits} of 32`);
    expect(bytes).toBeGreaterThan(packed);
    // Memory of a run and of compiled graphs takes less than 2 MB; in float32 the weights would take 16.8 MB.
    expect(bytes).toBeLessThan(packed + 2e6);
    await loaded.dispose();
  });

  it("is unpacked where the weights are inputs that a run may replace", async () => {
    const product: Product = { k: 64, n: 16, bits: 4, block: 32, isInput: true };
    const loaded = await ours.load(write(product), { type: "cpu", index: 0 }, {});
    expect(loaded.inputs.map(({ name }) => name)).toEqual(["a"]);
    await loaded.dispose();
    expect(difference(await multiplied(product, 2))).toBeLessThan(1e-5);
  });
});
