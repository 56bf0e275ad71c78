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

describe("folding with a memory", () => {
  it("gives the very same literal again, and those of chains, which belong to the model from then on", () => {
    const weights = floats(5000);
    const memo = new ConstantFoldingCache([weights]);
    const chain = (): Literal => memo.fold(add, [memo.fold(add, [weights, scalar(1)])[0]!, scalar(2)])[0]!;
    const first = chain();
    expect(chain()).toBe(first);
    expect(memo.isModelConstant(first)).toBe(true);
    memo.close();
    expect(chain()).toBe(first);
    expect(Array.from(first.data.slice(0, 3), Number)).toEqual([3, 4, 5]);
  });

  it("tells apart operations, shapes and small operands, 0 and -0 among them", () => {
    const weights = floats(16, 1);
    const memo = new ConstantFoldingCache([weights]);
    const quotients = [0, -0].map((by) => memo.fold(divide, [weights, scalar(by)])[0]!.data[0]);
    expect(quotients).toEqual([Infinity, -Infinity]);
    const reshaped = [
      [4, 4],
      [2, 8],
    ].map((shape) => memo.fold({ kind: "transpose", permutation: [1, 0] }, memo.fold({ kind: "reshape", shape }, [weights]))[0]!);
    expect(reshaped.map(({ shape }) => shape)).toEqual([
      [4, 4],
      [8, 2],
    ]);
    expect(memo.fold(add, [weights, scalar(1)])[0]).not.toBe(memo.fold(divide, [weights, scalar(1)])[0]);
  });

  it("remembers nothing that is not the model's, nothing once it is closed, and lets large results go", () => {
    const weights = floats(5000);
    const memo = new ConstantFoldingCache([weights]);
    const other = memo.fold(add, [floats(5000), scalar(1)])[0]!;
    expect(memo.isModelConstant(other)).toBe(false);
    const [early] = memo.fold(add, [weights, scalar(1)]);
    expect(early!.storage!.residentBytes).toBe(20_000);
    memo.close();
    expect(early!.storage!.residentBytes).toBe(0);
    expect(Number(early!.data[7])).toBe(8);
    for (let value = 2; value < 50; value += 1) {
      const late = (): Literal => memo.fold(add, [weights, scalar(value)])[0]!;
      expect(late()).not.toBe(late());
      expect(memo.isModelConstant(late())).toBe(false);
    }
  });
});
