import { describe, expect, it } from "vitest";
import { familyKernelId, llamaKernelId } from "./kernel-ids.ts";
import { countsOfModels, KernelTally, sumKernelCounts } from "./kernel-tally.ts";

describe("kernel ids", () => {
  it("are made of the names of families", () => {
    expect(["softmax", "top-k", "matmul", "byte-matmul"].map(familyKernelId)).toEqual([
      "Softmax_Wasm",
      "TopK_Wasm",
      "F32_Wasm",
      "INT8_Wasm",
    ]);
  });

  it("of llama.cpp name its device", () => {
    expect(llamaKernelId({ type: "cuda", index: 1 })).toBe("Llama_CUDA");
  });
});

describe("a tally", () => {
  it("lists the most frequent kernel first, and equal ones by id", () => {
    const tally = new KernelTally();
    expect(tally.counts).toEqual([]);
    tally.add("b");
    tally.add("c", 5);
    tally.add("a");
    tally.add("c");
    expect(tally.counts).toEqual([
      { id: "c", calls: 6 },
      { id: "a", calls: 1 },
      { id: "b", calls: 1 },
    ]);
  });

  it("adds up lists by id", () => {
    expect(sumKernelCounts([[{ id: "a", calls: 2 }], [], [{ id: "a", calls: 3 }]])).toEqual([{ id: "a", calls: 5 }]);
  });

  it("sums over the models that count, and is undefined if none does", async () => {
    const counting = { kernelCounts: async () => [{ id: "a", calls: 1 }] };
    expect(await countsOfModels([counting, {}, counting])).toEqual([{ id: "a", calls: 2 }]);
    expect(await countsOfModels([{}])).toBeUndefined();
  });
});
