import { describe, expect, it } from "vitest";
import { createChunk, decodeResult, encodeResult } from "./chunk.ts";
import { ResultDecoder } from "./result-decoder.ts";

const work = { task: "embed", model: "m", options: {}, retries: 1 };
const text = (output: Parameters<typeof encodeResult>[0]["output"]): string => {
  const [floats, lines] = (["floats", "text"] as const).map((form) => decodeResult(encodeResult({ output, failed: [] }, form)));
  expect(lines).toEqual(floats);
  return String(floats?.output);
};

describe("a result", () => {
  it("is the same lines, whether vectors of one length, of several, or texts", () => {
    const [one, two] = [Float32Array.of(0.1, -2), Float32Array.of(3, 4)];
    expect(
      text([
        { id: "é\n", vector: one },
        { id: 7, vector: two },
      ]),
    ).toBe('{"id":"é\\n","result":[0.1,-2]}\n{"id":7,"result":[3,4]}\n');
    expect(text([{ id: 1, vector: one }, { id: 2, vector: Float32Array.of(5) }, "3"])).toBe(
      '{"id":1,"result":[0.1,-2]}\n{"id":2,"result":[5]}\n3\n',
    );
    expect(text([])).toBe("");
  });

  it("says how many lines there are, and which rows failed", () => {
    const failed = [{ number: 3, line: "{}" }];
    expect(decodeResult(encodeResult({ output: ["a"], failed }))).toMatchObject({ done: 1, failed });
  });

  it("that is cut off is refused", () => {
    const bytes = encodeResult({ output: [{ id: 1, vector: Float32Array.of(1, 2) }], failed: [] });
    expect(() => decodeResult(bytes.subarray(0, -1))).toThrow(/a result in the queue is damaged/);
    expect(() => decodeResult(bytes.subarray(0, 5))).toThrow(expect.objectContaining({ code: "RUN_FAILED" }) as Error);
  });
});

it("the id of a chunk changes with its rows, its place and its work", () => {
  const row = { number: 1, id: 1, fields: { input: "a" } };
  const ids = [
    createChunk("j", 0, work, [row]),
    createChunk("j", 0, work, [{ ...row, fields: { input: "b" } }]),
    createChunk("j", 1, work, [row]),
    createChunk("j", 0, { ...work, model: "n" }, [row]),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(4);
  expect(createChunk("j", 0, work, [row]).id).toBe(ids[0]);
});

it("a large result is decoded whether or not there is a thread for it", async () => {
  const vector = Float32Array.from({ length: 64 }, (_, index) => index / 7);
  const bytes = encodeResult({ output: Array.from({ length: 300 }, (_, id) => ({ id, vector })), failed: [] });
  const decoder = new ResultDecoder(new URL("data:text/javascript,throw new Error()")); // ends at once
  const all = await Promise.all([decoder.decode(bytes), decoder.decode(bytes)]);
  expect(all.map(({ done, output }) => [done, output.equals(decodeResult(bytes).output)])).toEqual([
    [300, true],
    [300, true],
  ]);
  await expect(decoder.decode(bytes.subarray(0, -1))).rejects.toThrow(/is damaged/);
  await decoder.close();
});
