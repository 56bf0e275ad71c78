import { describe, expect, it } from "vitest";
import type { Kernel } from "../kernel.ts";
import { batchedMatmul } from "./matmul/batched-matmul.ts";
import { byteMatmul } from "./quantized/byte-matmul.ts";
import { integerMatmul } from "./quantized/integer-matmul.ts";
import { matmul } from "./matmul/matmul.ts";
import { quantizationRange } from "./quantized/quantize.ts";
import { softmax } from "./reductions/softmax.ts";

/** Attention's products for a text of so many tokens: four heads of 8 columns. */
const heads = (tokens: number) => ({ row: 32, column: 1, batch: [tokens * 32, 8] });
const scores = (tokens: number) => ({ row: tokens, column: 1, batch: [4 * tokens * tokens, tokens * tokens] });
const keys = (tokens: number) => ({ row: 1, column: 32, batch: [tokens * 32, 8] });

const byLength: Readonly<Record<string, (tokens: number) => Kernel>> = {
  "a linear layer": (tokens) => matmul({ m: tokens, n: 32, k: 16, bias: true }),
  "a linear layer of bytes": (tokens) => byteMatmul({ m: tokens, n: 32, k: 16, output: "int32" }),
  "a linear layer of integers": (tokens) => integerMatmul({ m: tokens, n: 32, k: 16, weightBytes: 1, output: "int32" }),
  scores: (tokens) =>
    batchedMatmul({ m: tokens, n: tokens, k: 8, batch: [1, 4], a: heads(tokens), b: keys(tokens), c: scores(tokens) }),
  context: (tokens) =>
    batchedMatmul({ m: tokens, n: 8, k: tokens, batch: [1, 4], a: scores(tokens), b: heads(tokens), c: heads(tokens) }),
  softmax: (tokens) => softmax({ shape: [1, 4, tokens, tokens], maskStrides: [tokens, 0, 0, 1] }),
  "the range of a tensor": (tokens) => quantizationRange({ rows: 1, columns: tokens * 32 }),
};

describe("the code of kernels", () => {
  it.each(Object.entries(byLength))("of %s is one for texts of all lengths that end their tiles alike", (_name, kernel) => {
    expect(kernel(24).key).toBe(kernel(88).key);
    expect(kernel(24).dynamicSizes).not.toEqual(kernel(88).dynamicSizes);
  });
});
