import { describe, expect, it } from "vitest";
import type { Literal } from "../ir/literal.ts";
import { ConstantFoldingCache } from "./constant-folding-cache.ts";

const floats = (length: number, first = 0): Literal => ({
  dataType: "float32",
  shape: [length],
  data: Float32Array.from({ length }, (_, index) => first + index),
});
const scalar = (value: number): Literal => ({ dataType: "float32", shape: [], data: Float32Array.of(value) });
const add = { kind: "binary", function: "add" } as const;
const divide = { kind: "binary", function: "div" } as const;

describe("ConstantFoldingCache", () => {
  it("returns the same literal for the same fold, also in chains, and counts results as constants of the model", () => {
    const weights = floats(5000);
    const cache = new ConstantFoldingCache([weights]);
    const chain = (): Literal => cache.fold(add, [cache.fold(add, [weights, scalar(1)])[0]!, scalar(2)])[0]!;
    const first = chain();
    expect(chain()).toBe(first);
    expect(cache.isModelConstant(first)).toBe(true);
    cache.close();
    expect(chain()).toBe(first);
    expect(Array.from(first.data.slice(0, 3), Number)).toEqual([3, 4, 5]);
  });

  it("distinguishes operations, shapes and small operands, 0 from -0", () => {
    const weights = floats(16, 1);
    const cache = new ConstantFoldingCache([weights]);
    const quotients = [0, -0].map((by) => cache.fold(divide, [weights, scalar(by)])[0]!.data[0]);
    expect(quotients).toEqual([Infinity, -Infinity]);
    const reshaped = [
      [4, 4],
      [2, 8],
    ].map(
      (shape) => cache.fold({ kind: "transpose", permutation: [1, 0] }, cache.fold({ kind: "reshape", shape }, [weights]))[0]!,
    );
    expect(reshaped.map(({ shape }) => shape)).toEqual([
      [4, 4],
      [8, 2],
    ]);
    expect(cache.fold(add, [weights, scalar(1)])[0]).not.toBe(cache.fold(divide, [weights, scalar(1)])[0]);
  });

  it("caches only what depends on weights, nothing after close, and releases large results on close", () => {
    const weights = floats(5000);
    const cache = new ConstantFoldingCache([weights]);
    const other = cache.fold(add, [floats(5000), scalar(1)])[0]!;
    expect(cache.isModelConstant(other)).toBe(false);
    const [early] = cache.fold(add, [weights, scalar(1)]);
    expect(early!.storage!.residentBytes).toBe(20_000);
    cache.close();
    expect(early!.storage!.residentBytes).toBe(0);
    expect(Number(early!.data[7])).toBe(8);
    for (let value = 2; value < 50; value += 1) {
      const late = (): Literal => cache.fold(add, [weights, scalar(value)])[0]!;
      expect(late()).not.toBe(late());
      expect(cache.isModelConstant(late())).toBe(false);
    }
  });
});
