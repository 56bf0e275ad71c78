/** Convex hulls: the scan of Sklansky 1982 over points sorted by x, as OpenCV's `convexHull` makes it. */
import type { PixelPoint } from "./points.ts";

/** A chain of the hull from one end of the sorted points to an extreme of y. */
interface Chain {
  readonly from: number;
  readonly to: number;
  /** Sign of the steps of y that are skipped, and of the turns that stay. */
  readonly skippedY: number;
  readonly keptTurn: number;
}

/** Vertices of the convex hull of points with integer coordinates, counter-clockwise with y up, in the order of `cv2.convexHull(points, clockwise=False)`. */
export function convexHull(points: readonly PixelPoint[]): readonly PixelPoint[] {
  const order = points.map((_, index) => index);
  const pointAt = (index: number): PixelPoint => points[index] ?? [0, 0];
  order.sort((a, b) => pointAt(a)[0] - pointAt(b)[0] || pointAt(a)[1] - pointAt(b)[1] || a - b);
  const sorted = order.map((index) => pointAt(index));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (samePoint(first, last)) return [pointAt(order[0] ?? 0)];
  const hull = joinChains(sorted).map((index) => order[index] ?? 0);
  return shiftToMonotonic(hull).map((index) => pointAt(index));
}

function samePoint(a: PixelPoint | undefined, b: PixelPoint | undefined): boolean {
  return a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1];
}

function joinChains(sorted: readonly PixelPoint[]): readonly number[] {
  const end = sorted.length - 1;
  let [lowest, highest] = [0, 0];
  sorted.forEach(([, y], index) => {
    if (y < (sorted[lowest]?.[1] ?? 0)) lowest = index;
    if (y > (sorted[highest]?.[1] ?? 0)) highest = index;
  });
  const upperRight = scan(sorted, { from: end, to: highest, skippedY: -1, keptTurn: -1 });
  const upperLeft = scan(sorted, { from: 0, to: highest, skippedY: -1, keptTurn: 1 });
  const hull = [...upperRight.slice(0, -1), ...upperLeft.slice(1).toReversed()];
  const stop = upperLeft.length > 2 ? upperLeft[1] : upperRight.length > 2 ? upperRight.at(-2) : undefined;
  let lowerLeft = scan(sorted, { from: 0, to: lowest, skippedY: 1, keptTurn: -1 });
  let lowerRight = scan(sorted, { from: end, to: lowest, skippedY: 1, keptTurn: 1 });
  if (stop !== undefined) {
    const check =
      lowerLeft.length > 2
        ? lowerLeft[1]
        : lowerLeft.length + lowerRight.length > 2
          ? lowerRight[2 - lowerLeft.length]
          : undefined;
    if (check !== undefined && (check === stop || samePoint(sorted[check], sorted[stop]))) {
      // all points lie on one line: the lower half is the upper half mirrored, without its ends
      lowerLeft = lowerLeft.slice(0, 2);
      lowerRight = lowerRight.slice(0, 2);
    }
  }
  return [...hull, ...lowerLeft.slice(0, -1), ...lowerRight.slice(1).toReversed()];
}

/** Indices of the sorted points on one chain of the hull. */
function scan(sorted: readonly PixelPoint[], { from, to, skippedY, keptTurn }: Chain): readonly number[] {
  if (from === to || samePoint(sorted[from], sorted[to])) return [from];
  const step = to > from ? 1 : -1;
  const at = (index: number): PixelPoint => sorted[index] ?? [0, 0];
  let [previous, current, next] = [from, from + step, from + 2 * step];
  const stack = [previous, current, next];
  while (next !== to + step) {
    const [rise, runNext] = [at(next)[1] - at(current)[1], at(next)[0] - at(current)[0]];
    if (Math.sign(rise) === skippedY) {
      next += step;
      stack[stack.length - 1] = next;
      continue;
    }
    const [run, riseBefore] = [at(current)[0] - at(previous)[0], at(current)[1] - at(previous)[1]];
    const turn = riseBefore * runNext - run * rise;
    if (Math.sign(turn) === keptTurn && (run !== 0 || riseBefore !== 0)) {
      [previous, current] = [current, next];
      next += step;
      stack.push(next);
    } else if (previous === from) {
      current = next;
      stack[1] = current;
      next += step;
      stack[2] = next;
    } else {
      stack[stack.length - 2] = next;
      current = previous;
      previous = stack.at(-4) ?? from;
      stack.pop();
    }
  }
  return stack.slice(0, -1);
}

/** Rotates indices so that they ascend or descend, if a rotation does that. */
function shiftToMonotonic(hull: readonly number[]): readonly number[] {
  if (hull.length < 3) return hull;
  const at = (index: number): number => hull[index % hull.length] ?? 0;
  let [smallest, largest, ascents] = [0, 0, 0];
  for (let index = 1; index < hull.length; index++) {
    if (at(index - 1) < at(index)) ascents++;
    if (ascents > 1 && ascents <= index - 2) break;
    if (at(index) < at(smallest)) smallest = index;
    if (at(index) > at(largest)) largest = index;
  }
  const gap = Math.abs(largest - smallest);
  const isRotation = (gap === 1 || gap === hull.length - 1) && (ascents <= 1 || ascents >= hull.length - 2);
  if (!isRotation) return hull;
  const ascending = (largest + 1) % hull.length === smallest;
  const start = ascending ? smallest : largest;
  const shifted = hull.map((_, index) => at(start + index));
  const isMonotonic = shifted.every((value, index) => index === 0 || ascending === (shifted[index - 1] ?? 0) < value);
  return isMonotonic ? shifted : hull;
}
