import { describe, expect, test } from "vitest";
import type { Quadrilateral } from "../../processors/images/geometry/points.ts";
import { sortBoxes } from "./reading-order.ts";

const box = (left: number, top: number, width = 200, height = 20): Quadrilateral => [
  [left, top],
  [left + width, top],
  [left + width, top + height],
  [left, top + height],
];

describe("columns", () => {
  test("two columns under a heading and over a footer", () => {
    const heading = box(40, 10, 480);
    const left = [box(40, 60), box(40, 100), box(40, 140)];
    const right = [box(320, 62), box(320, 103), box(320, 141)];
    const footer = box(40, 200, 480);
    const scattered = [right[2]!, footer, left[1]!, right[0]!, heading, left[0]!, left[2]!, right[1]!];
    expect(sortBoxes(scattered, "columns")).toEqual([heading, ...left, ...right, footer]);
    expect(sortBoxes(scattered, "lines")).toEqual([heading, left[0], right[0], left[1], right[1], left[2], right[2], footer]);
  });

  test("three columns", () => {
    const columns = [20, 260, 500].map((left) => [box(left, 20), box(left, 60), box(left, 100)]);
    expect(sortBoxes(columns.flat().toReversed(), "columns")).toEqual(columns.flat());
  });

  test("words with narrow gaps, and one line beside another, are no columns", () => {
    const words = [box(20, 20, 80), box(110, 20, 80), box(20, 60, 80), box(110, 60, 80)];
    expect(sortBoxes(words, "columns")).toEqual(words);
    const pair = [box(20, 20), box(400, 20)];
    expect(sortBoxes(pair, "columns")).toEqual(pair);
    expect(sortBoxes([], "columns")).toEqual([]);
  });
});
