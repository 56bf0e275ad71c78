/** Weights in GGUF files: the values that their types stand for, bit for bit. No engine is needed to read them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { decodeTensor } from "../../../src/formats/gguf/blocks/index.ts";
import { decodeI2S, unpackI2S } from "../../../src/formats/gguf/blocks/i2s.ts";
import { readGguf } from "../../../src/formats/gguf/read-gguf.ts";
import { base64Floats, parse } from "../encoded.ts";
import type { Checks } from "../checks.ts";
import type { Format } from "../format.ts";
import { tolerances } from "../tolerances.ts";
import { sha256 } from "./gguf-llama.ts";

const blocks = z.object({
  file: z.string(),
  tensors: z.array(z.object({ tensor: z.string(), type: z.string(), dequantized_sha256: z.string() })).min(1),
});

export const ggufBlocks: Format = {
  name: "gguf-blocks-v1",
  read(goldens) {
    const { file, tensors } = parse(blocks, goldens);
    return {
      async compareFiles(folder, checks) {
        const read = await tensorsOf(join(folder, file));
        for (const { tensor, type, dequantized_sha256: golden } of tensors) {
          const { bytes, elements, type: stored } = read(tensor);
          checks.equal("types", tensor, stored, type);
          checks.equal("decoded tensors", `${type} (${tensor})`, sha256(decodeTensor(type, bytes, elements)), golden);
        }
      },
    };
  },
};

const ternary = z.object({
  file: z.string(),
  tensor: z.string(),
  rows: z.int(),
  cols: z.int(),
  scale: z.number(),
  ternary: z.array(z.array(z.int())),
  dequantized_sha256: z.string(),
  matvec: z
    .array(
      z.object({
        x: base64Floats,
        x_int8: z.array(z.int()),
        accumulators_int32: z.array(z.int()),
        y_float_weights_and_activations: base64Floats,
      }),
    )
    .min(1),
});

export const ggufTernary: Format = {
  name: "i2_s-goldens-v1",
  read(goldens) {
    const golden = parse(ternary, goldens);
    return {
      async compareFiles(folder, checks) {
        const { bytes } = (await tensorsOf(join(folder, golden.file)))(golden.tensor);
        const { rows, cols: columns, scale } = golden;
        const shape = { rows, columns, layout: "x86" } as const; // as the goldens' README.md describes it
        const values = decodeI2S(bytes, shape);
        checks.equal("decoded tensors", golden.tensor, sha256(values), golden.dequantized_sha256);
        const flat = unpackI2S(bytes, shape).codes;
        const codes = Array.from({ length: rows }, (_, row) => [...flat.subarray(row * columns, (row + 1) * columns)]);
        for (const [row, wanted] of golden.ternary.entries()) checks.equal("rows of codes", `row ${row}`, codes[row], wanted);
        for (const [index, product] of golden.matvec.entries()) checkProduct(checks, index, codes, scale, product);
      },
    };
  },
};

/** The product with a vector, in integers with the rounded vector and in floats. */
function checkProduct(
  checks: Checks,
  index: number,
  codes: readonly (readonly number[])[],
  scale: number,
  {
    x,
    x_int8: rounded,
    accumulators_int32: wanted,
    y_float_weights_and_activations: y,
  }: z.infer<typeof ternary>["matvec"][number],
): void {
  const dot = (of: ArrayLike<number>): number[] =>
    codes.map((row) => row.reduce((sum, code, column) => sum + code * (of[column] ?? Number.NaN), 0));
  checks.equal("sums of products", `vector ${index}`, dot(rounded), wanted);
  checks.close(
    tolerances.products,
    `vector ${index}`,
    dot(x).map((sum) => sum * scale),
    y,
  );
}

interface Stored {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly elements: number;
}

async function tensorsOf(path: string): Promise<(name: string) => Stored> {
  const [file, { tensors }] = await Promise.all([readFile(path), readGguf(path, path)]);
  return (name) => {
    const found = tensors.find((each) => each.name === name);
    if (found === undefined) throw new Error(`${path} has no tensor "${name}"`);
    const { type, start, bytes, elements } = found;
    return { type, elements, bytes: file.subarray(start, start + bytes) };
  };
}
