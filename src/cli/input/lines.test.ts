import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getLines } from "./lines.ts";

async function lines(...chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const all: string[] = [];
  for await (const line of getLines(Readable.from(chunks))) all.push(line);
  return all;
}

describe("lines of a stream", () => {
  it.each([
    ["", []],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\n\nb\n\n", ["a", "", "b", ""]],
    ["a\r\nb\r\n", ["a", "b"]],
    ["a\rb\n", ["a\rb"]],
    ["a\u2028b\u2029c\u0085d\n", ["a\u2028b\u2029c\u0085d"]],
    ["\uFEFFa\n\uFEFFb\n", ["a", "\uFEFFb"]],
    ["\n", [""]],
  ])("%j", async (text, expected) => expect(await lines(Buffer.from(text))).toEqual(expected));

  it("are the same wherever the stream is cut, in the middle of a character too", async () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "東", "𠀀", "\n", "\r\n", "\r"), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, size) => {
        const bytes = Buffer.from(whole);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_chunk, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        );
        expect(await lines(...chunks)).toEqual(await lines(bytes));
        const segments = whole.split(/\r?\n/);
        const last = segments.pop()!;
        expect(await lines(bytes)).toEqual([...segments, ...(last === "" ? [] : [last.replace(/\r$/, "")])]);
      }),
    );
  });
});
