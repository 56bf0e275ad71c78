import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, largestError, randomFloats } from "../../../../../test/kernel-memory.ts";
import { type AttentionRequest, attention } from "./attention.ts";
import type { MatrixStrides } from "./batched-matmul.ts";

/** [batch, rows, heads * size], a head's numbers side by side. */
const interleaved = (rows: number, heads: number, size: number): MatrixStrides => ({
  row: heads * size,
  column: 1,
  batch: [rows * heads * size, size],
});

function check(request: AttentionRequest, splits: number, set = featureSets[0]!): void {
  const { batch, queries, keys, headSize, valueSize, scale, mask } = request;
  const [texts = 1, heads = 1] = batch;
  const [qValues, kValues, vValues] = [queries * headSize, keys * headSize, keys * valueSize].map((size, seed) =>
    randomFloats(texts * heads * size, seed + 1, 2),
  );
  const maskValues = randomFloats(texts * heads * queries * keys, 9).map((value, index) =>
    value > 0.6 && index % keys > 0 ? -30 : value,
  );
  const at = (strides: MatrixStrides, text: number, head: number, row: number, column: number) =>
    text * strides.batch[0]! + head * strides.batch[1]! + row * strides.row + column * strides.column;
  const wanted = new Float64Array(texts * heads * queries * valueSize);
  for (let text = 0; text < texts; text += 1)
    for (let head = 0; head < heads; head += 1)
      for (let query = 0; query < queries; query += 1) {
        const scores = Array.from({ length: keys }, (_, key) => {
          let sum = 0;
          for (let x = 0; x < headSize; x += 1)
            sum += qValues![at(request.q, text, head, query, x)]! * kValues![at(request.k, text, head, key, x)]!;
          return sum * scale + (mask === undefined ? 0 : maskValues[at(mask, text, head, query, key)]!);
        });
        const most = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - most));
        const total = powers.reduce((sum, power) => sum + power, 0);
        for (let x = 0; x < valueSize; x += 1)
          wanted[at(request.y, text, head, query, x)] = powers.reduce(
            (sum, power, key) => sum + (power / total) * vValues![at(request.v, text, head, key, x)]!,
            0,
          );
      }
  const kernel = attention(request);
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(256 * 1024 + 16 * (maskValues.length + wanted.length * 4) + kernel.scratchBytes * 2);
    const inputs = [qValues!, kValues!, vValues!, ...(mask === undefined ? [] : [maskValues])].map(
      (values) => memory.put(values).offset,
    );
    const y = memory.room(Float32Array, wanted.length);
    memory.run(kernel, [...inputs, y.offset, memory.room(Uint8Array, kernel.scratchBytes).offset], calls, set);
    return y.data.slice();
  });
  expect(results[1]).toEqual(results[0]);
  expect(largestError(results[0]!, wanted)).toBeLessThan(5e-6);
}

const size = (most: number) => fc.integer({ min: 1, max: most });

describe("attention", () => {
  it("equals the definition for any sizes, with masks of any shape", () => {
    fc.assert(
      fc.property(
        fc.tuple(size(2), size(3), size(21), size(29), size(13), size(13)),
        fc.constantFrom("none", "own", "keys", "queries"),
        size(4),
        fc.constantFrom(...featureSets),
        ([texts, heads, queries, keys, headSize, valueSize], masked, splits, set) => {
          const masks: Readonly<Record<string, MatrixStrides>> = {
            own: { row: keys, column: 1, batch: [heads * queries * keys, queries * keys] },
            keys: { row: 0, column: 1, batch: [keys, 0] },
            queries: { row: 1, column: 0, batch: [0, queries] },
          };
          const mask = masks[masked];
          const request: AttentionRequest = {
            batch: [texts, heads],
            queries,
            keys,
            headSize,
            valueSize,
            q: interleaved(queries, heads, headSize),
            k: interleaved(keys, heads, headSize),
            v: interleaved(keys, heads, valueSize),
            y: interleaved(queries, heads, valueSize),
            scale: 0.3,
            ...(mask === undefined ? {} : { mask }),
          };
          check(request, splits, set);
        },
      ),
      { numRuns: 120 },
    );
  });

  it("takes values that are the same for every key", () => {
    const one = interleaved(1, 2, 5);
    for (const queries of [1, 6])
      check(
        {
          batch: [1, 2],
          queries,
          keys: 7,
          headSize: 5,
          valueSize: 5,
          scale: 1,
          q: interleaved(queries, 2, 5),
          k: interleaved(7, 2, 5),
          v: { ...one, row: 0 },
          y: interleaved(queries, 2, 5),
        },
        2,
      );
  });

  it("goes through long texts in blocks of queries, and lets heads share keys and values", () => {
    const [queries, keys] = [150, 600];
    const shared = (width: number): MatrixStrides => ({ row: width, column: 1, batch: [keys * width, 0] });
    const request: AttentionRequest = {
      batch: [1, 2],
      queries,
      keys,
      headSize: 8,
      valueSize: 12,
      q: interleaved(queries, 2, 8),
      k: shared(8),
      v: shared(12),
      y: interleaved(queries, 2, 12),
      scale: 1,
    };
    expect(attention(request).pieces).toBe(2 * 3);
    check(request, 4);
  });
});
