/** Borders of the regions of a mask: border following by Suzuki and Abe 1985, "Topological structural analysis of digitized binary images by border following". */
import type { PixelPoint } from "./points.ts";

/** Steps to the eight neighbours, counter-clockwise from the right, y down. */
const stepX = [1, 1, 0, -1, -1, -1, 0, 1];
const stepY = [0, -1, -1, -1, 0, 1, 1, 1];

/** Labels of pixels: part of a region; on a border that was followed; on one, with background to its right. */
const [inside, followed, followedRight] = [1, 2, -126];

/** A mask with a border of one background pixel, whose values become labels. */
interface LabelledMask {
  readonly labels: Int8Array;
  readonly stride: number;
}

/**
 * Outer borders and borders of holes of all 8-connected regions of a mask, of which only the points where the direction changes are kept: what OpenCV's
 * `findContours` gives with RETR_LIST and CHAIN_APPROX_SIMPLE, in its order, the last border of a scan by rows first. `mask`: a byte per pixel, 0 for the background. `max`: how many of them are kept, the first in that order.
 */
export function findContours(
  mask: Uint8Array,
  width: number,
  height: number,
  max: number = Number.POSITIVE_INFINITY,
): readonly (readonly PixelPoint[])[] {
  const stride = width + 2;
  const labels = new Int8Array(stride * (height + 2));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (mask[y * width + x] !== 0) labels[(y + 1) * stride + x + 1] = inside;
  const contours: (readonly PixelPoint[])[] = [];
  for (let y = 1; y <= height; y++) {
    let left = 0;
    for (let x = 1; x <= width + 1; x++) {
      const at = y * stride + x;
      const label = labels[at] ?? 0;
      if (label !== left) {
        if (left === 0 && label === inside) contours.push(followBorder({ labels, stride }, at, false));
        else if (label === 0 && left >= 1) contours.push(followBorder({ labels, stride }, at - 1, true));
      }
      left = labels[at] ?? 0;
    }
    if (contours.length > 2 * max) contours.splice(0, contours.length - max);
  }
  return contours.slice(-max).reverse();
}

/** Follows the border on which a pixel lies, marks its pixels, and returns its corners. `isHole`: whether the pixel is left of a hole. */
function followBorder({ labels, stride }: LabelledMask, start: number, isHole: boolean): readonly PixelPoint[] {
  const steps = stepX.map((x, direction) => (stepY[direction] ?? 0) * stride + x);
  const step = (direction: number): number => steps[direction & 7] ?? 0;
  const point = (at: number): PixelPoint => [(at % stride) - 1, Math.floor(at / stride) - 1];
  const from = isHole ? 0 : 4;
  let direction = from;
  do direction = (direction + 7) & 7;
  while (labels[start + step(direction)] === 0 && direction !== from);
  if (direction === from) {
    labels[start] = followedRight;
    return [point(start)];
  }
  const last = start + step(direction);
  const corners: PixelPoint[] = [];
  let at = start;
  let arrived = direction ^ 4;
  for (;;) {
    const searchedFrom = direction;
    do direction++;
    while (labels[at + step(direction)] === 0);
    const next = at + step(direction);
    direction &= 7;
    if (direction >= 1 && direction - 1 < searchedFrom) labels[at] = followedRight;
    else if (labels[at] === inside) labels[at] = followed;
    if (direction !== arrived) corners.push(point(at));
    arrived = direction;
    if (next === start && at === last) return corners;
    at = next;
    direction = (direction + 4) & 7;
  }
}
