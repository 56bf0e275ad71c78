import { expect, it } from "vitest";
import { decodeCtc } from "./decode-ctc.ts";

const decode = (rows: readonly (readonly number[])[]) => {
  const data = Float32Array.from(rows.flat());
  return decodeCtc({ dataType: "float32", shape: [1, rows.length, rows[0]!.length], data }, ["a", "b"])[0]!.text;
};

it("takes the best class of each step, of equal ones the first", () => {
  const probabilities = [
    [0.1, 0.8, 0.05, 0.05],
    [0.9, 0.1, 0, 0],
    [0.2, 0.3, 0.3, 0.2],
    [0.05, 0.15, 0.8, 0],
  ];
  expect(decode(probabilities)).toBe("aab");
});

it("takes the highest of values that are no probabilities", () => {
  const logits = [
    [3, 1, 7, -2],
    [0.6, 0.7, 0.1, 0.2],
  ];
  expect(decode(logits)).toBe("ba");
});
