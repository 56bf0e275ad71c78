/** The order in which the boxes of a page are read. */
import type { PixelPoint, Quadrilateral } from "../../processors/images/geometry/points.ts";

/** Orders of reading. */
export const readingOrders = ["lines", "columns"] as const;

/** "lines": from top to bottom over the whole width, and from left to right in a line. "columns": column by column. */
export type ReadingOrder = (typeof readingOrders)[number];

/** Difference in pixels of the upper left corners of two boxes from which the lower one begins another line. */
const lineStep = 10;

/** Sorts boxes by reading order. */
export function sortBoxes(boxes: readonly Quadrilateral[], order: ReadingOrder): readonly Quadrilateral[] {
  return order === "lines" ? sortByLines(boxes) : splitColumns(boxes).flatMap((column) => sortByLines(column));
}

/** Boxes by lines, as rapidocr 3.10 sorts them: a box belongs to the line of the box above it if it begins less than 10 pixels below. */
function sortByLines(boxes: readonly Quadrilateral[]): readonly Quadrilateral[] {
  let line = 0;
  let above = -Infinity;
  const placed = boxes
    .toSorted(([[, a]], [[, b]]) => a - b)
    .map((box) => {
      const [[, y]] = box;
      if (y - above >= lineStep && above !== -Infinity) line++;
      above = y;
      return { box, line };
    });
  return placed.toSorted((a, b) => a.line - b.line || a.box[0][0] - b.box[0][0]).map(({ box }) => box);
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Share of the mean height of lines that a gap between columns is wide, at least. */
const minGutter = 1;
/** Lines of each of two columns, at least. */
const minColumnLines = 2;

/**
 * Splits boxes into columns: a cut of the page into parts above each other and beside each other, as the recursive X-Y cut (Nagy and Seth 1984) makes it. A gap is a
 * gutter if it is as wide as a line is high, and each side has at least two lines. Where no gutter goes through all boxes, they are cut at the widest horizontal gap
 * if one of the parts has a gutter then: a heading over two columns comes first.
 */
function splitColumns(boxes: readonly Quadrilateral[]): readonly (readonly Quadrilateral[])[] {
  const parts = cutAtGutter(boxes) ?? cutAbove(boxes);
  return parts === undefined ? [boxes] : parts.flatMap((part) => splitColumns(part));
}

function cutAtGutter(boxes: readonly Quadrilateral[]): readonly [Quadrilateral[], Quadrilateral[]] | undefined {
  const height = mean(boxes.map((box) => length(extent(box, 1))));
  const gutters = gaps(boxes, 0).filter((gap) => length(gap) >= minGutter * height);
  for (const { start } of gutters.toSorted((a, b) => length(b) - length(a))) {
    const left = boxes.filter((box) => extent(box, 0).end <= start);
    const right = boxes.filter((box) => extent(box, 0).end > start);
    if (left.length >= minColumnLines && right.length >= minColumnLines && overlapVertically(left, right)) return [left, right];
  }
  return undefined;
}

/** Cuts boxes at a horizontal gap of which one side has a gutter, the uppermost of these. */
function cutAbove(boxes: readonly Quadrilateral[]): readonly [Quadrilateral[], Quadrilateral[]] | undefined {
  for (const { start } of gaps(boxes, 1)) {
    const upper = boxes.filter((box) => extent(box, 1).end <= start);
    const lower = boxes.filter((box) => extent(box, 1).end > start);
    if (cutAtGutter(upper) !== undefined || cutAtGutter(lower) !== undefined) return [upper, lower];
  }
  return undefined;
}

function overlapVertically(left: readonly Quadrilateral[], right: readonly Quadrilateral[]): boolean {
  const [first, second] = [left, right].map((side) => side.map((box) => extent(box, 1)));
  const start = Math.max(
    Math.min(...(first ?? []).map((each) => each.start)),
    Math.min(...(second ?? []).map((each) => each.start)),
  );
  const end = Math.min(Math.max(...(first ?? []).map((each) => each.end)), Math.max(...(second ?? []).map((each) => each.end)));
  return end > start;
}

/** Gaps between the extents of boxes along one axis, in ascending order. */
function gaps(boxes: readonly Quadrilateral[], axis: 0 | 1): readonly Extent[] {
  const found: Extent[] = [];
  let reached = -Infinity;
  for (const { start, end } of boxes.map((box) => extent(box, axis)).toSorted((a, b) => a.start - b.start)) {
    if (start > reached && reached !== -Infinity) found.push({ start: reached, end: start });
    reached = Math.max(reached, end);
  }
  return found;
}

function extent(box: Quadrilateral, axis: 0 | 1): Extent {
  const values = box.map((point: PixelPoint) => point[axis]);
  return { start: Math.min(...values), end: Math.max(...values) };
}

function length({ start, end }: Extent): number {
  return end - start;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
