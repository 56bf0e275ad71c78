/** Polygons grown outwards with round corners, on integers, as the library Clipper 6 (Angus Johnson) computes them. */
import type { PixelPoint } from "./points.ts";

/** Largest distance in pixels between an arc and the chords that replace it. */
const arcTolerance = 0.25;

/**
 * Grows a convex polygon by `distance` pixels with round corners. Coordinates are cut to integers first, and results are rounded. This is what a
 * `PyclipperOffset` gives for JT_ROUND and ET_CLOSEDPOLYGON: without vertices in the middle of an edge, and with the vertex of smallest y last. Empty if the
 * polygon has fewer than three different corners.
 */
export function offsetPolygon(polygon: readonly PixelPoint[], distance: number): readonly PixelPoint[] {
  const corners = withoutRepeats(polygon.map(([x, y]): PixelPoint => [Math.trunc(x), Math.trunc(y)]));
  if (corners.length < 3) return [];
  if (signedArea(corners) < 0) corners.reverse();
  return fromLowest(simplify(grow(corners, distance)));
}

/** Area and perimeter of a polygon. */
export function measurePolygon(polygon: readonly PixelPoint[]): { readonly area: number; readonly perimeter: number } {
  let perimeter = 0;
  polygon.forEach(([x, y], index) => {
    const [nextX, nextY] = polygon[(index + 1) % polygon.length] ?? [0, 0];
    perimeter += Math.sqrt((nextX - x) * (nextX - x) + (nextY - y) * (nextY - y));
  });
  return { area: Math.abs(signedArea(polygon)), perimeter };
}

/** Positive if the corners go counter-clockwise with y up. Relative to the first corner, so that little is lost to cancellation. */
function signedArea(polygon: readonly PixelPoint[]): number {
  const [[originX, originY] = [0, 0]] = polygon;
  let sum = 0;
  polygon.forEach(([x, y], index) => {
    const [nextX, nextY] = polygon[(index + 1) % polygon.length] ?? [0, 0];
    sum += (x - originX) * (nextY - originY) - (nextX - originX) * (y - originY);
  });
  return sum / 2;
}

function grow(corners: readonly PixelPoint[], distance: number): PixelPoint[] {
  const flatness = Math.min(arcTolerance, distance * arcTolerance);
  const steps = Math.min(Math.PI / Math.acos(1 - flatness / distance), distance * Math.PI);
  const [sine, cosine] = [Math.sin((2 * Math.PI) / steps), Math.cos((2 * Math.PI) / steps)];
  const stepsPerRadian = steps / (2 * Math.PI);
  const normals = corners.map(([x, y], index): PixelPoint => {
    const [nextX, nextY] = corners[(index + 1) % corners.length] ?? [0, 0];
    const inverse = 1 / Math.sqrt((nextX - x) * (nextX - x) + (nextY - y) * (nextY - y));
    return [(nextY - y) * inverse, -(nextX - x) * inverse];
  });
  const grown: PixelPoint[] = [];
  let before = normals.at(-1) ?? [0, 0];
  corners.forEach((corner, index) => {
    const normal = normals[index] ?? [0, 0];
    const push = (x: number, y: number): number =>
      grown.push([roundAway(corner[0] + x * distance), roundAway(corner[1] + y * distance)]);
    const dot = before[0] * normal[0] + before[1] * normal[1];
    let turn = before[0] * normal[1] - normal[0] * before[1];
    if (Math.abs(turn * distance) < 1) {
      if (dot > 0) {
        push(before[0], before[1]); // nearly straight: Clipper keeps the normal before it for the next corner
        return;
      }
    } else turn = Math.min(Math.max(turn, -1), 1);
    if (turn * distance < 0) {
      push(before[0], before[1]);
      grown.push(corner);
    } else {
      const arc = Math.max(roundAway(stepsPerRadian * Math.abs(Math.atan2(turn, dot))), 1);
      let [x, y] = before;
      for (let step = 0; step < arc; step++) {
        push(x, y);
        [x, y] = [x * cosine - sine * y, x * sine + y * cosine];
      }
    }
    push(normal[0], normal[1]);
    before = normal;
  });
  return grown;
}

/** Removes repeated vertices and those in the middle of a straight edge. */
function simplify(polygon: readonly PixelPoint[]): PixelPoint[] {
  const kept = [...polygon];
  let [index, unchanged] = [0, 0];
  while (kept.length > 2 && unchanged < kept.length) {
    index %= kept.length;
    const [before, at, after] = [kept.at(index - 1) ?? [0, 0], kept[index] ?? [0, 0], kept[(index + 1) % kept.length] ?? [0, 0]];
    const straight = (before[1] - at[1]) * (at[0] - after[0]) === (before[0] - at[0]) * (at[1] - after[1]);
    if (straight) {
      kept.splice(index, 1);
      index = Math.max(index - 1, 0);
      unchanged = 0;
    } else {
      index++;
      unchanged++;
    }
  }
  return kept;
}

/** Rotates a polygon so that its vertex of smallest y, of these the one of largest x, is the last. */
function fromLowest(polygon: readonly PixelPoint[]): readonly PixelPoint[] {
  let lowest = 0;
  polygon.forEach(([x, y], index) => {
    const [lowestX, lowestY] = polygon[lowest] ?? [0, 0];
    if (y < lowestY || (y === lowestY && x > lowestX)) lowest = index;
  });
  return [...polygon.slice(lowest + 1), ...polygon.slice(0, lowest + 1)];
}

function withoutRepeats(points: readonly PixelPoint[]): PixelPoint[] {
  return points.filter(([x, y], index) => {
    const [beforeX, beforeY] = points.at(index - 1) ?? [0, 0];
    return points.length === 1 || x !== beforeX || y !== beforeY;
  });
}

function roundAway(value: number): number {
  return value < 0 ? Math.trunc(value - 0.5) : Math.trunc(value + 0.5);
}
