import { describe, expect, it } from "vitest";
import { displayWidth, formatTable, printable } from "./table.ts";

describe("tables", () => {
  it("align their columns under a head, and pad nothing at the end of a line", () => {
    const table = formatTable(
      [
        ["onnx:cpu", "would run", "onnxruntime-node 1.30.0"],
        ["wasm", "next", "", "npm install"],
      ],
      ["target", "verdict", "why"],
    );
    expect(table.split("\n")).toEqual([
      "  target    verdict    why",
      "  onnx:cpu  would run  onnxruntime-node 1.30.0",
      "  wasm      next                                npm install",
    ]);
  });

  it("align text of any script by the columns a terminal needs", () => {
    const rows = formatTable([
      ["東京", "x"],
      ["abcd", "x"],
      ["e\u0301", "x"],
    ]).split("\n");
    expect(rows).toEqual(["  東京  x", "  abcd  x", "  e\u0301     x"]);
  });

  it("of nothing are nothing", () => expect(formatTable([])).toBe(""));
});

describe("the width of text", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["e\u0301", 1],
    ["東京", 4],
    ["한국", 4],
    ["𠀀", 2],
    ["👩‍👩‍👧", 2],
    ["ｱ", 1],
    ["Ａ", 2],
  ])("%j needs %d columns", (text, width) => expect(displayWidth(text)).toBe(width));
});

describe("a text from outside", () => {
  it("a long text is looked at only as far as it is shown", () => {
    expect(printable("a".repeat(2_000_000), 10)).toBe(`${"a".repeat(9)}…`);
    expect(printable(`e${"\u0301".repeat(2_000_000)}`, 10)).toMatch(/…$/);
  });

  it.each([
    ["short", 10, "short"],
    ["exactly ten", 11, "exactly ten"],
    ["a longer sentence", 8, "a longe…"],
    ["two\nlines\tand tabs", 40, "two lines and tabs"],
    ["東京タワー", 7, "東京タ…"],
    ["東京タワー", 6, "東京…"],
    ["\u001B[31mred\u0007 \u202Eleft", 20, "?[31mred? ?left"],
  ])("%j to %d columns", (text, width, clipped) => {
    expect(printable(text, width)).toBe(clipped);
    expect(displayWidth(printable(text, width))).toBeLessThanOrEqual(width);
  });
});
