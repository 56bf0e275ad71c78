/** Boxes of lines in the detector's probability map: the post-processing of DB (Liao et al. 2020, "Real-time scene text detection with differentiable binarization"). */
import { findContours } from "../../processors/images/geometry/contours.ts";
import { dilateByTwo } from "../../processors/images/geometry/dilate.ts";
import { fillPolygon } from "../../processors/images/geometry/fill-polygon.ts";
import { minimumRectangle, rectangleCorners } from "../../processors/images/geometry/minimum-rectangle.ts";
import { measurePolygon, offsetPolygon } from "../../processors/images/geometry/offset-polygon.ts";
import { type PixelPoint, type Quadrilateral, distance32 } from "../../processors/images/geometry/points.ts";
import { roundHalfEven } from "../../processors/images/geometry/rounding.ts";

const { fround } = Math;

/** Probability above which a pixel is text, in float32. */
const textThreshold = fround(0.3);
/** Smallest mean probability of a box. */
const boxThreshold = 0.5;
/** Borders that are looked at, at most. */
const maxCandidates = 1000;
/** The detector finds the core of a line: a box grows by its area times this over its perimeter. */
const growth = 1.6;
/** Shorter side in pixels of a core, at least; a grown box needs 2 more. */
const minSide = 3;

const origin: PixelPoint = [0, 0];

/** The detector's output for one page: a probability per pixel, row by row. */
export interface ProbabilityMap {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Boxes of lines, with corners in whole pixels of a page of `width` x `height` whose map this is, clockwise from the upper left. Their order is that in which the
 * borders are found.
 */
export function findTextBoxes(
  map: ProbabilityMap,
  { width, height }: { readonly width: number; readonly height: number },
): Quadrilateral[] {
  const mask = new Uint8Array(map.data.length);
  for (let at = 0; at < mask.length; at++) mask[at] = (map.data[at] ?? 0) > textThreshold ? 1 : 0;
  const contours = findContours(dilateByTwo(mask, map.width, map.height), map.width, map.height, maxCandidates);
  const boxes: Quadrilateral[] = [];
  for (const contour of contours) {
    const core = orderedRectangle(contour);
    if (core.side < minSide || meanProbability(map, core.corners) < boxThreshold) continue;
    const { area, perimeter } = measurePolygon(core.corners);
    const grown = orderedRectangle(offsetPolygon(core.corners, (area * growth) / perimeter));
    if (grown.side < minSide + 2) continue;
    const scale = (value: number, from: number, to: number): number =>
      Math.min(Math.max(roundHalfEven(fround(fround(value / from) * to)), 0), to);
    const onPage = grown.corners.map(([x, y]): PixelPoint => [scale(x, map.width, width), scale(y, map.height, height)]);
    const box = orderClockwise(onPage).map(([x, y]): PixelPoint => [Math.min(x, width - 1), Math.min(y, height - 1)]);
    const quadrilateral: Quadrilateral = [box[0] ?? origin, box[1] ?? origin, box[2] ?? origin, box[3] ?? origin];
    const [upperLeft, upperRight, , lowerLeft] = quadrilateral;
    if (distance32(upperLeft, upperRight) < 4 || distance32(upperLeft, lowerLeft) < 4) continue;
    boxes.push(quadrilateral);
  }
  return boxes;
}

/** The smallest rectangle around points: its corners, clockwise from the upper left, and its shorter side. */
function orderedRectangle(points: readonly PixelPoint[]): { readonly corners: readonly PixelPoint[]; readonly side: number } {
  const rectangle = minimumRectangle(points);
  const [first = origin, second = origin, third = origin, fourth = origin] = rectangleCorners(rectangle).toSorted(
    ([a], [b]) => a - b,
  );
  const [upperLeft, lowerLeft] = second[1] > first[1] ? [first, second] : [second, first];
  const [upperRight, lowerRight] = fourth[1] > third[1] ? [third, fourth] : [fourth, third];
  return { corners: [upperLeft, upperRight, lowerRight, lowerLeft], side: Math.min(rectangle.width, rectangle.height) };
}

/** Corners clockwise from the upper left: of the two leftmost ones the upper comes first. */
function orderClockwise(corners: readonly PixelPoint[]): readonly PixelPoint[] {
  const byX = corners.toSorted(([a], [b]) => a - b);
  const byY = (pair: readonly PixelPoint[]): readonly PixelPoint[] => pair.toSorted(([, a], [, b]) => a - b);
  const [[upperLeft = origin, lowerLeft = origin], [upperRight = origin, lowerRight = origin]] = [
    byY(byX.slice(0, 2)),
    byY(byX.slice(2)),
  ];
  return [upperLeft, upperRight, lowerRight, lowerLeft];
}

/** Mean probability of the pixels of a quadrilateral. */
function meanProbability({ data, width, height }: ProbabilityMap, corners: readonly PixelPoint[]): number {
  const clamp = (value: number, size: number): number => Math.min(Math.max(value, 0), size - 1);
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, right] = [clamp(Math.floor(Math.min(...xs)), width), clamp(Math.ceil(Math.max(...xs)), width)];
  const [top, bottom] = [clamp(Math.floor(Math.min(...ys)), height), clamp(Math.ceil(Math.max(...ys)), height)];
  const mask = {
    width: right - left + 1,
    height: bottom - top + 1,
    data: new Uint8Array((right - left + 1) * (bottom - top + 1)),
  };
  fillPolygon(
    mask,
    corners.map(([x, y]): PixelPoint => [Math.trunc(fround(x - left)), Math.trunc(fround(y - top))]),
  );
  let [sum, count] = [0, 0];
  mask.data.forEach((inside, index) => {
    if (inside === 0) return;
    const column = index % mask.width;
    sum += data[(top + (index - column) / mask.width) * width + left + column] ?? 0;
    count++;
  });
  return count === 0 ? 0 : sum / count;
}
