/** The rectangle of smallest area around points, by rotating calipers (Toussaint 1983), in the float32 arithmetic of OpenCV's `minAreaRect` and `boxPoints`. */
import { convexHull } from "./convex-hull.ts";
import type { PixelPoint } from "./points.ts";

const { fround } = Math;

/** A rectangle that may be turned. Numbers are float32. */
export interface RotatedRectangle {
  readonly center: PixelPoint;
  readonly width: number;
  readonly height: number;
  /** Degrees, clockwise with y down. */
  readonly angle: number;
}

/** Corner of a rectangle, and its two sides as vectors. */
interface Sides {
  readonly corner: PixelPoint;
  readonly first: PixelPoint;
  readonly second: PixelPoint;
}

/** The rectangle of smallest area around points with integer coordinates: `cv2.minAreaRect(points)`. */
export function minimumRectangle(points: readonly PixelPoint[]): RotatedRectangle {
  const hull = convexHull(points);
  const [first = [0, 0], second] = hull;
  if (second === undefined) return { center: first, width: 0, height: 0, angle: -90 };
  if (hull.length === 2) return aroundSegment(first, second);
  const sides = rotateCalipers(hull);
  const { corner, first: along, second: across } = sides;
  const center: PixelPoint = [
    fround(corner[0] + fround(fround(along[0] + across[0]) * 0.5)),
    fround(corner[1] + fround(fround(along[1] + across[1]) * 0.5)),
  ];
  const [width, height] = [fround(length(across)), fround(length(along))];
  if (along[0] === 0 && along[1] > 0) return { center, width: height, height: width, angle: -90 };
  return { center, width, height, angle: fround(toDegrees(-Math.atan2(along[0], along[1]))) };
}

/** The corners of a rectangle in the order of `cv2.boxPoints`. */
export function rectangleCorners({ center, width, height, angle }: RotatedRectangle): readonly PixelPoint[] {
  const radians = (angle * Math.PI) / 180;
  const [a, b] = [fround(fround(Math.sin(radians)) * 0.5), fround(fround(Math.cos(radians)) * 0.5)];
  const [ah, aw, bh, bw] = [fround(a * height), fround(a * width), fround(b * height), fround(b * width)];
  const [x, y] = center;
  return [
    [fround(fround(x - ah) - bw), fround(fround(y + bh) - aw)],
    [fround(fround(x + ah) - bw), fround(fround(y - bh) - aw)],
    [fround(fround(x + ah) + bw), fround(fround(y - bh) + aw)],
    [fround(fround(x - ah) + bw), fround(fround(y + bh) + aw)],
  ];
}

function aroundSegment(first: PixelPoint, second: PixelPoint): RotatedRectangle {
  const center: PixelPoint = [fround(fround(first[0] + second[0]) * 0.5), fround(fround(first[1] + second[1]) * 0.5)];
  const [dx, dy] = [first[0] - second[0], first[1] - second[1]];
  const size = fround(Math.sqrt(dx * dx + dy * dy));
  if (dx === 0) return { center, width: size, height: 0, angle: -90 };
  if (dy < 0) return { center, width: size, height: 0, angle: fround(toDegrees(Math.atan2(dy, dx))) };
  return { center, width: 0, height: size, angle: dy > 0 ? fround(toDegrees(-Math.atan2(dx, dy))) : -90 };
}

/** Turns a rectangle around a convex polygon with at least three vertices, a side on one of its edges at a time, and keeps the smallest. */
function rotateCalipers(hull: readonly PixelPoint[]): Sides {
  const count = hull.length;
  const vertex = (index: number): PixelPoint => hull[index] ?? [0, 0];
  const edges = hull.map((from, index): PixelPoint => {
    const to = vertex((index + 1) % count);
    return [fround(to[0] - from[0]), fround(to[1] - from[1])];
  });
  const inverseLengths = edges.map((edge) => fround(1 / length(edge)));
  const touched = extremes(hull);
  let best = { area: Infinity, a: 1, b: 0, width: 0, height: 0, left: 0, bottom: 0 };
  for (let turn = 0; turn < count; turn++) {
    const turned = touched.map((index, side) => quarterTurns(edges[index] ?? [0, 0], side));
    let leading = 0;
    for (let side = 1; side < 4; side++) if (isRightOf(turned[side] ?? [0, 0], turned[leading] ?? [0, 0])) leading = side;
    const edge = touched[leading] ?? 0;
    const scale = inverseLengths[edge] ?? 0;
    const [x, y] = edges[edge] ?? [0, 0];
    const [a, b] = quarterTurns([fround(x * scale), fround(y * scale)], leading);
    touched[leading] = (edge + 1) % count;
    const [bottom = 0, right = 0, top = 0, left = 0] = touched;
    const across: PixelPoint = [fround(vertex(right)[0] - vertex(left)[0]), fround(vertex(right)[1] - vertex(left)[1])];
    const up: PixelPoint = [fround(vertex(top)[0] - vertex(bottom)[0]), fround(vertex(top)[1] - vertex(bottom)[1])];
    const width = fround(fround(across[0] * a) + fround(across[1] * b));
    const height = fround(fround(-up[0] * b) + fround(up[1] * a));
    const area = fround(width * height);
    if (area <= best.area) best = { area, a, b, width, height, left, bottom };
  }
  const { a, b, width, height } = best;
  const [left, bottom] = [vertex(best.left), vertex(best.bottom)];
  const along = fround(fround(a * left[0]) + fround(left[1] * b));
  const across = fround(fround(-b * bottom[0]) + fround(bottom[1] * a));
  const scale = fround(1 / fround(fround(a * a) - fround(-b * b)));
  return {
    corner: [
      fround(fround(fround(along * a) - fround(across * b)) * scale),
      fround(fround(fround(a * across) - fround(-b * along)) * scale),
    ],
    first: [fround(a * width), fround(b * width)],
    second: [fround(-b * height), fround(a * height)],
  };
}

/** Indices of the vertices with the smallest y, the largest x, the largest y and the smallest x; the first of equals. */
function extremes(hull: readonly PixelPoint[]): number[] {
  const of = (index: number): PixelPoint => hull[index] ?? [0, 0];
  let [bottom, right, top, left] = [0, 0, 0, 0];
  hull.forEach(([x, y], index) => {
    if (x < of(left)[0]) left = index;
    if (x > of(right)[0]) right = index;
    if (y > of(top)[1]) top = index;
    if (y < of(bottom)[1]) bottom = index;
  });
  return [bottom, right, top, left];
}

/** A vector turned clockwise, with y up, by so many quarter turns. */
function quarterTurns([x, y]: PixelPoint, turns: number): PixelPoint {
  return turns === 0 ? [x, y] : turns === 1 ? [y, -x] : turns === 2 ? [-x, -y] : [-y, x];
}

function isRightOf(first: PixelPoint, second: PixelPoint): boolean {
  return fround(fround(first[1] * second[0]) + fround(-first[0] * second[1])) < 0;
}

function length([x, y]: PixelPoint): number {
  return Math.sqrt(x * x + y * y);
}

function toDegrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
