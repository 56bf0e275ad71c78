/** The order in which the boxes of a page are read. */
import type { PixelPoint, Quadrilateral } from "../../processors/images/geometry/points.ts";

/** Orders of reading. */
export const readingOrderNames = ["lines", "columns"] as const;

/** "lines": from top to bottom over the whole width, and from left to right in a line. "columns": column by column. */
export type ReadingOrder = (typeof readingOrderNames)[number];

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
 * Splits boxes into columns: a cut of the page into parts beside each other and above each other, as the recursive X-Y cut (Nagy and Seth 1984) makes it. A gap is a
 * gutter if it is as wide as a line is high, and each side has at least two lines. Where no gutter goes through all boxes, the uppermost rows through which one
 * goes are cut out first: columns under a heading and over a footer.
 */
function splitColumns(boxes: readonly Quadrilateral[]): readonly (readonly Quadrilateral[])[] {
  const parts = cutAtGutter(boxes) ?? cutRows(boxes);
  return parts === undefined ? [boxes] : parts.flatMap((part) => splitColumns(part));
}

function cutAtGutter(boxes: readonly Quadrilateral[]): readonly [Quadrilateral[], Quadrilateral[]] | undefined {
  const gutters = columnGaps(boxes).filter((gap) => length(gap) >= minGutter * meanHeight(boxes));
  for (const { start } of gutters.toSorted((a, b) => length(b) - length(a))) {
    const left = boxes.filter((box) => extent(box, 0).end <= start);
    const right = boxes.filter((box) => extent(box, 0).end > start);
    if (left.length >= minColumnLines && right.length >= minColumnLines && overlapVertically(left, right)) return [left, right];
  }
  return undefined;
}

/** Cuts boxes into what is above, in and below the uppermost rows that have a gutter. */
function cutRows(boxes: readonly Quadrilateral[]): readonly (readonly Quadrilateral[])[] | undefined {
  const rows = splitRows(boxes);
  const gutter = minGutter * meanHeight(boxes);
  for (const first of rows.keys()) {
    for (let end = lastWithGap(rows, first, gutter); end > first; end--) {
      const inside = rows.slice(first, end).flat();
      if (inside.length < boxes.length && cutAtGutter(inside) !== undefined)
        return [rows.slice(0, first).flat(), inside, rows.slice(end).flat()].filter((part) => part.length > 0);
    }
  }
  return undefined;
}

/** Boxes in rows between which a horizontal line goes through the page without touching one. */
function splitRows(boxes: readonly Quadrilateral[]): readonly Quadrilateral[][] {
  const rows: Quadrilateral[][] = [];
  let reached = -Infinity;
  for (const box of boxes.toSorted((a, b) => extent(a, 1).start - extent(b, 1).start)) {
    const { start, end } = extent(box, 1);
    if (start > reached || rows.length === 0) rows.push([]);
    rows.at(-1)?.push(box);
    reached = Math.max(reached, end);
  }
  return rows;
}

/** The end of the longest list of rows from `first` on through which a vertical gap of at least `width` goes. */
function lastWithGap(rows: readonly (readonly Quadrilateral[])[], first: number, width: number): number {
  let occupied: readonly Extent[] = [];
  for (let end = first; end < rows.length; end++) {
    occupied = merge([...occupied, ...(rows[end] ?? []).map((box) => extent(box, 0))], width);
    if (occupied.length < 2) return end;
  }
  return rows.length;
}

/** Joins extents that are less than `width` apart. */
function merge(extents: readonly Extent[], width: number): readonly Extent[] {
  const merged: Extent[] = [];
  for (const { start, end } of extents.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || start - last.end >= width) merged.push({ start, end });
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, end) };
  }
  return merged;
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

/** Vertical gaps that go through all boxes, from left to right. */
function columnGaps(boxes: readonly Quadrilateral[]): readonly Extent[] {
  const occupied = merge(
    boxes.map((box) => extent(box, 0)),
    0,
  );
  return occupied.slice(1).map(({ start }, index) => ({ start: occupied[index]?.end ?? start, end: start }));
}

function extent(box: Quadrilateral, axis: 0 | 1): Extent {
  const values = box.map((point: PixelPoint) => point[axis]);
  return { start: Math.min(...values), end: Math.max(...values) };
}

function length({ start, end }: Extent): number {
  return end - start;
}

function meanHeight(boxes: readonly Quadrilateral[]): number {
  return boxes.reduce((sum, box) => sum + length(extent(box, 1)), 0) / Math.max(boxes.length, 1);
}
