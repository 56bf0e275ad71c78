import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "./utf8.ts";

describe("textOfUtf8", () => {
  it("gives every text back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text.replace(/^\uFEFF/, ""));
      }),
    );
  });

  it("refuses exactly what a decoder would replace, at the byte where the text before it ends", () => {
    const units = fc.constantFrom(
      0x41,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc2,
      0xe0,
      0xe1,
      0xed,
      0xef,
      0xf0,
      0xf1,
      0xf4,
      0xf5,
      0xff,
    );
    fc.assert(
      fc.property(fc.array(units, { maxLength: 12 }), (units) => {
        const bytes = Uint8Array.from([0x2e, ...units]); // a dot first: no byte order mark
        const replaced = new TextDecoder().decode(bytes);
        let decoded: string | undefined;
        const error = errorOf(() => (decoded = decodeUtf8(bytes)));
        expect(decoded).toBe(replaced.includes("\uFFFD") ? undefined : replaced);
        if (decoded !== undefined) return;
        const text = replaced.slice(0, replaced.indexOf("\uFFFD"));
        const start = new TextEncoder().encode(text).length;
        const offset = Number(/at byte (\d+)/.exec(String(error))?.[1]);
        expect(offset).toBeGreaterThanOrEqual(start);
        expect(offset).toBeLessThan(start + 4);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    [[0x61, 0xff], "0xff at byte 1"],
    [[0x61, 0xc3, 0x28], "0x28 at byte 2"],
    [[0xed, 0xa0, 0x80], "0xa0 at byte 1"],
    [[0x61, 0xe2, 0x82], "the end of the body at byte 3"],
  ])("%j is refused: %s", (bytes, words) => {
    expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow(words);
  });
});

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
