/** Polygons drawn into masks, pixel for pixel as OpenCV's `fillPoly` draws them. */
import type { PixelPoint } from "./points.ts";

/** Fixed-point scale of x: 16 fractional bits. */
const one = 65_536;

/** A mask that is drawn into: a byte per pixel. */
export interface Mask {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** An edge of a polygon that crosses the rows from `top` to `bottom - 1`. `x` at its top row and its step per row are fixed-point. */
interface Edge {
  readonly top: number;
  readonly bottom: number;
  readonly x: number;
  readonly step: number;
}

/** Sets the pixels of a polygon, its border included, to 1. Coordinates are integers; what lies outside of the mask is cut off. */
export function fillPolygon(mask: Mask, polygon: readonly PixelPoint[]): void {
  const edges: Edge[] = [];
  polygon.forEach((to, index) => {
    const from = polygon.at(index - 1) ?? to;
    const clipped = clipLine(mask, from, to);
    if (clipped.visible) drawLine(mask, clipped.from, clipped.to);
    if (from[1] !== to[1]) edges.push(toEdge(from, to, clipped));
  });
  const top = Math.max(Math.min(...edges.map((edge) => edge.top)), 0);
  const bottom = Math.min(Math.max(...edges.map((edge) => edge.bottom)), mask.height);
  for (let y = top; y < bottom; y++) {
    const crossings = edges
      .filter((edge) => edge.top <= y && y < edge.bottom)
      .map(({ x, step, top: first }) => x + (y - first) * step);
    crossings.sort((a, b) => a - b);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const left = Math.max(Math.floor(((crossings[pair] ?? 0) + one - 1) / one), 0);
      const right = Math.min(Math.floor((crossings[pair + 1] ?? 0) / one), mask.width - 1);
      if (left <= right) mask.data.fill(1, y * mask.width + left, y * mask.width + right + 1);
    }
  }
}

/** A line cut at the borders of a mask. */
interface ClippedLine {
  readonly from: PixelPoint;
  readonly to: PixelPoint;
  /** Whether a part of the line is inside the mask. If not, its ends may be cut at some of the borders. */
  readonly visible: boolean;
}

/** The edge of a polygon between two corners. OpenCV computes its slope from the ends of the clipped line, also where that is not visible. */
function toEdge(from: PixelPoint, to: PixelPoint, clipped: ClippedLine): Edge {
  const slanted = clipped.from[1] !== clipped.to[1];
  const start: PixelPoint = [clipped.from[0], slanted ? clipped.from[1] : from[1]];
  const end: PixelPoint = [clipped.to[0], slanted ? clipped.to[1] : to[1]];
  const step = Math.trunc(((end[0] - start[0]) * one) / (end[1] - start[1]));
  const [top, anchor] = from[1] < to[1] ? [from[1], start] : [to[1], end];
  return { top, bottom: Math.max(from[1], to[1]), x: anchor[0] * one + (top - anchor[1]) * step, step };
}

/** Cuts a line at the borders of a mask (Cohen and Sutherland); its ends are cut to integers. */
function clipLine({ width, height }: Mask, from: PixelPoint, to: PixelPoint): ClippedLine {
  let [[x1, y1], [x2, y2]] = [from, to];
  const [right, bottom] = [width - 1, height - 1];
  const outcode = (x: number, y: number): number =>
    (x < 0 ? 1 : 0) + (x > right ? 2 : 0) + (y < 0 ? 4 : 0) + (y > bottom ? 8 : 0);
  let [first, second] = [outcode(x1, y1), outcode(x2, y2)];
  const crosses = (): boolean => (first & second) === 0 && (first | second) !== 0;
  if (crosses()) {
    if ((first & 12) !== 0) {
      const edge = first < 8 ? 0 : bottom;
      x1 += Math.trunc(((edge - y1) * (x2 - x1)) / (y2 - y1));
      y1 = edge;
      first = outcode(x1, 0) & 3;
    }
    if ((second & 12) !== 0) {
      const edge = second < 8 ? 0 : bottom;
      x2 += Math.trunc(((edge - y2) * (x2 - x1)) / (y2 - y1));
      y2 = edge;
      second = outcode(x2, 0) & 3;
    }
    if (crosses()) {
      if (first !== 0) {
        const edge = first === 1 ? 0 : right;
        y1 += Math.trunc(((edge - x1) * (y2 - y1)) / (x2 - x1));
        x1 = edge;
        first = 0;
      }
      if (second !== 0) {
        const edge = second === 1 ? 0 : right;
        y2 += Math.trunc(((edge - x2) * (y2 - y1)) / (x2 - x1));
        x2 = edge;
        second = 0;
      }
    }
  }
  return { from: [x1, y1], to: [x2, y2], visible: (first | second) === 0 };
}

/** Bresenham's line from the left end to the right end, both inside the mask. */
function drawLine({ data, width }: Mask, from: PixelPoint, to: PixelPoint): void {
  const [[x, y], [endX, endY]] = from[0] <= to[0] ? [from, to] : [to, from];
  const [dx, dy] = [endX - x, Math.abs(endY - y)];
  const down = endY < y ? -width : width;
  const [long, short, alongStep, acrossStep] = dy > dx ? [dy, dx, down, 1] : [dx, dy, 1, down];
  let [error, at] = [long - 2 * short, y * width + x];
  for (let count = 0; count <= long; count++) {
    data[at] = 1;
    at += alongStep;
    if (error < 0) {
      error += 2 * long;
      at += acrossStep;
    }
    error -= 2 * short;
  }
}
