import { describe, expect, it } from "vitest";
import { estimateMemoryBytes, deepCopy } from "./plain-data.ts";
import { hashParts } from "./call-cache.ts";

describe("copies of answers", () => {
  it("share nothing with the original but what is kept, and views bring no more than they show", () => {
    const decision = { id: "1" };
    const all = new Float32Array(1000);
    const answer = { decision, embeddings: [all.subarray(2, 4)], tokens: [1, 2], name: "a", none: null, gap: undefined };
    const copy = deepCopy(answer, decision);
    expect(copy).toEqual(answer);
    expect(copy.decision).toBe(decision);
    expect(copy.embeddings[0]!.buffer.byteLength).toBe(8);
    answer.tokens[0] = 9;
    all[2] = 9;
    expect([copy.tokens[0], copy.embeddings[0]![0]]).toEqual([1, 0]);
    expect(estimateMemoryBytes(copy, decision)).toBeLessThan(300);
    expect(estimateMemoryBytes(new Float32Array(1000))).toBe(4000);
    for (const odd of [new Map(), () => 1, new DataView(new ArrayBuffer(1))])
      expect(() => deepCopy({ odd })).toThrow(expect.objectContaining({ code: "CONTRACT_VIOLATION" }));
  });
});

it("keys differ where anything does", () => {
  const parts = [
    ["embed", ["a", "b"], {}],
    ["embed", ["ab"], {}],
    ["embed", ["a", "b"], { dimensions: 2 }],
    ["embed", [[1, 2]], {}],
    ["infer", { x: { data: new Float32Array([1]) } }],
    ["infer", { x: { data: new Float32Array([2]) } }],
    ["infer", { x: { data: new BigInt64Array([1n]) } }],
    ["infer", { x: { data: new BigInt64Array([2n]) } }],
  ];
  expect(new Set(parts.map(hashParts)).size).toBe(parts.length);
  expect(hashParts(["infer", new Float32Array([1, 2]).subarray(1)])).toBe(hashParts(["infer", new Float32Array([2])]));
});
