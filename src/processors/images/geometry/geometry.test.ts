import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Picture } from "../picture.ts";
import { findContours } from "./contours.ts";
import { convexHull } from "./convex-hull.ts";
import { dilateByTwo } from "./dilate.ts";
import { fillPolygon } from "./fill-polygon.ts";
import { minimumRectangle, rectangleCorners } from "./minimum-rectangle.ts";
import { measurePolygon, offsetPolygon } from "./offset-polygon.ts";
import { invertTransform, perspectiveTransform, transformPoint } from "./perspective.ts";
import type { PixelPoint, Quadrilateral } from "./points.ts";
import { resizeLinear } from "./resize-linear.ts";
import { turnHalf, turnQuarter } from "./turn-picture.ts";
import { warpPerspective } from "./warp-perspective.ts";

type Size = [width: number, height: number];

/** What OpenCV, pyclipper and shapely compute: scripts/goldens/images/opencv-geometry.py. Pictures and masks are base64. */
interface Goldens {
  readonly resize: readonly { from: [number, number, 1 | 3]; to: Size; data: string; resized: string }[];
  readonly contours: readonly { size: Size; mask: string; contours: PixelPoint[][] }[];
  readonly dilate: readonly { size: Size; mask: string; dilated: string }[];
  readonly rectangles: readonly {
    points: PixelPoint[];
    center: PixelPoint;
    size: Size;
    angle: number;
    corners: PixelPoint[];
    hull: PixelPoint[];
  }[];
  readonly fill: readonly { size: Size; polygon: PixelPoint[]; mask: string }[];
  readonly offset: readonly { polygon: PixelPoint[]; area: number; perimeter: number; distance: number; grown: PixelPoint[] }[];
  readonly warp: readonly {
    size: Size;
    data: string;
    corners: Quadrilateral;
    to: Size;
    matrix: number[];
    inverse: number[];
    warped: string;
  }[];
}

const goldens = JSON.parse(readFileSync(new URL("geometry-goldens.json", import.meta.url), "utf8")) as Goldens;
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
const picture = ([width, height]: Size, data: string, channels: 1 | 3 = 3): Picture => ({
  width,
  height,
  channels,
  data: bytesOf(data),
});

describe("bit for bit as OpenCV", () => {
  test.each(goldens.resize)("resizeLinear from $from to $to", ({ from: [width, height, channels], to, data, resized }) => {
    expect(resizeLinear(picture([width, height], data, channels), ...to).data).toEqual(bytesOf(resized));
  });

  test("resizeLinear to the same size is the picture", () => {
    const same = picture([1, 1], "AAEC");
    expect(resizeLinear(same, 1, 1)).toBe(same);
  });

  test.each(goldens.contours)("findContours in a mask of $size", ({ size, mask, contours }) => {
    expect(findContours(bytesOf(mask), ...size)).toEqual(contours);
    expect(findContours(bytesOf(mask), ...size, 2)).toEqual(contours.slice(0, 2));
  });

  test.each(goldens.dilate)("dilateByTwo of a mask of $size", ({ size, mask, dilated }) => {
    expect(dilateByTwo(bytesOf(mask), ...size)).toEqual(bytesOf(dilated));
  });

  test.each(goldens.rectangles)("convexHull and minimumRectangle of $points", ({ points, hull, corners, ...expected }) => {
    expect(convexHull(points)).toEqual(hull);
    const rectangle = minimumRectangle(points);
    expect(rectangle).toEqual({
      center: expected.center,
      width: expected.size[0],
      height: expected.size[1],
      angle: expected.angle,
    });
    expect(rectangleCorners(rectangle)).toEqual(corners);
  });

  test.each(goldens.fill)("fillPolygon $polygon in a mask of $size", ({ size: [width, height], polygon, mask }) => {
    const drawn = { width, height, data: new Uint8Array(width * height) };
    fillPolygon(drawn, polygon);
    expect(drawn.data).toEqual(bytesOf(mask));
  });

  test.each(goldens.warp)("perspectiveTransform and warpPerspective to $to", ({ size, data, corners, to, ...expected }) => {
    const matrix = perspectiveTransform(corners, [[0, 0], [to[0], 0], to, [0, to[1]]])!;
    expect([...matrix]).toEqual(expected.matrix);
    const inverse = invertTransform(matrix)!;
    expect([...inverse]).toEqual(expected.inverse);
    expect(warpPerspective(picture(size, data), inverse, { width: to[0], height: to[1] }).data).toEqual(bytesOf(expected.warped));
  });
});

test.each(goldens.offset)(
  "offsetPolygon of $polygon grows it as Clipper does",
  ({ polygon, area, perimeter, distance, grown }) => {
    expect(measurePolygon(polygon).area).toBeCloseTo(area, 8);
    expect(measurePolygon(polygon).perimeter).toBeCloseTo(perimeter, 8);
    expect(offsetPolygon(polygon, distance)).toEqual(grown);
  },
);

describe("what has no area", () => {
  test("has an empty offset", () => {
    expect(offsetPolygon([[0, 0], [5, 0], [5, 0], [0, 0]], 2)).toEqual([]); // prettier-ignore
  });
  test("has rectangles of width or height 0", () => {
    expect(minimumRectangle([[3, 4]])).toEqual({ center: [3, 4], width: 0, height: 0, angle: -90 });
    expect(minimumRectangle([])).toEqual({ center: [0, 0], width: 0, height: 0, angle: -90 });
  });
  test("has no perspective transform", () => {
    expect(perspectiveTransform([[0, 0], [1, 0], [2, 0], [3, 0]], [[0, 0], [4, 0], [4, 4], [0, 4]])).toBeUndefined(); // prettier-ignore
    expect(invertTransform(new Float64Array(9))).toBeUndefined();
  });
});

test("a transform and its inverse lead back to the point", () => {
  const matrix = perspectiveTransform([[3, 2], [40, 5], [38, 30], [1, 25]], [[0, 0], [40, 0], [40, 25], [0, 25]])!; // prettier-ignore
  const [x, y] = transformPoint(invertTransform(matrix)!, transformPoint(matrix, [17, 11]));
  expect(x).toBeCloseTo(17, 9);
  expect(y).toBeCloseTo(11, 9);
});

test("turns by quarters and halves", () => {
  const row: Picture = { width: 3, height: 1, channels: 1, data: Uint8Array.of(1, 2, 3) };
  expect(turnHalf(row)).toEqual({ ...row, data: Uint8Array.of(3, 2, 1) });
  expect(turnQuarter(row)).toEqual({ width: 1, height: 3, channels: 1, data: Uint8Array.of(3, 2, 1) });
});
