import { describe, expect, it } from "vitest";
import { readAnswers } from "./known-answer-file.ts";

const encode = (...values: number[]): string => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
};
const file = (...items: object[]): string => JSON.stringify({ items });

describe("known answers from a file", () => {
  it("reads base64 of little-endian float32: AACAPwAAAMA= is 1, -2", () => {
    const [answer] = readAnswers(file({ text: "hello", embedding: "AACAPwAAAMA=" }), "a.json");
    expect(answer).toEqual({ text: "hello", embedding: Float32Array.of(1, -2), tolerance: 1e-5 });
  });

  it("prefers the normalized vector where a file has both, and leaves other fields alone", () => {
    const item = { text: "", embedding: encode(3), embedding_normalized: encode(1), input_ids: [101, 102] };
    expect([...readAnswers(file(item), "a.json")[0]!.embedding]).toEqual([1]);
    expect([...readAnswers(file({ text: "", embedding_normalized: encode(5) }), "a.json")[0]!.embedding]).toEqual([5]);
  });

  it("takes the caller's tolerance", () => {
    expect(readAnswers(file({ text: "x", embedding: encode(1) }), "a.json", 0.25)[0]?.tolerance).toBe(0.25);
  });

  it.each([
    ["{", "a.json is not JSON"],
    ["[]", "a.json is not a file of known answers"],
    [file(), "a.json is not a file of known answers"],
    [file({ embedding: encode(1) }), "text"],
    [file({ text: "x", embedding: encode(1) }, { text: "y" }), "a.json: item 1 has no embedding"],
    [file({ text: "x", embedding: "AACA" }), "a.json: item 0: the embedding is not base64 of float32 values"],
    [file({ text: "x", embedding: "" }), "a.json: item 0: the embedding is not base64 of float32 values"],
  ])("refuses %s and says where", (text, message) => {
    expect(() => readAnswers(text, "a.json")).toThrow(message);
    expect(() => readAnswers(text, "a.json")).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
