import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBytes, formatMilliseconds, plural, shortFloat } from "./units.ts";

describe("numbers as a person reads them", () => {
  it.each([
    [0.04, "0.0 ms"],
    [3.14, "3.1 ms"],
    [41.4, "41 ms"],
    [999.4, "999 ms"],
    [1000, "1.00 s"],
    [1234, "1.23 s"],
    [12_345, "12.3 s"],
  ])("%d milliseconds", (milliseconds, text) => expect(formatMilliseconds(milliseconds)).toBe(text));

  it.each([
    [0, "0 kB"],
    [1, "1 kB"],
    [4_500_000, "4.5 MB"],
    [90_405_214, "90 MB"],
    [24_200_000_000, "24.2 GB"],
  ])("%d bytes", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it("one text, two texts, no texts", () => {
    expect([0, 1, 2].map((count) => plural(count, "text"))).toEqual(["0 texts", "1 text", "2 texts"]);
  });
});

describe("a float32 in few digits", () => {
  it("reads back as the same float32, whatever it is", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Math.fround(Number(JSON.stringify(shortFloat(value))))).toBe(value === 0 ? 0 : value);
      }),
      // JSON has no infinities; embeddings that hold one are refused before they get here.
      { examples: [[1.401298464324817e-45], [3.4028234663852886e38]], numRuns: 1000 },
    );
  });

  it("is no longer than it must be", () => {
    expect(shortFloat(Math.fround(0.1))).toBe(0.1);
    expect(shortFloat(Math.fround(-0.021345))).toBe(-0.021345);
    expect(shortFloat(0)).toBe(0);
  });
});
