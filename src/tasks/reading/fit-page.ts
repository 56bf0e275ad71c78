/** Pages brought to a size in which the detector finds lines, as rapidocr 3.10 does it. */
import type { PixelPoint } from "../../processors/images/geometry/points.ts";
import { resizeLinear } from "../../processors/images/geometry/resize-linear.ts";
import { roundHalfEven } from "../../processors/images/geometry/rounding.ts";
import type { Picture } from "../../processors/images/picture.ts";
import { InferyardError } from "../../contract/errors.ts";

const { fround } = Math;

/** Longest and shortest side in pixels. A page beyond them is resized. */
const [maxSide, minSide] = [2000, 30];
/** Sides that the networks take are multiples of this. */
const sideUnit = 32;
/** A page that is wider than this times its height, or not higher than `minPaddedHeight`, gets black bands above and below. */
const maxWidthToHeight = 8;
const minPaddedHeight = 30;

/** A page as the detector and the crops of lines see it. */
export interface FittedPage {
  /** Red, green and blue. */
  readonly picture: Picture;
  /** Pixels of the page as it was given for one of `picture`, along each side. */
  readonly scaleX: number;
  readonly scaleY: number;
  /** The position in the page as it was given, in pixels, of a position in `picture`. It lies within the page. */
  toPage(point: PixelPoint): PixelPoint;
}

/** Resizes and pads a page of three channels. Throws INPUT_INVALID for one that is so narrow that nothing is left of its shorter side. */
export function fitPage(page: Picture): FittedPage {
  const { width, height } = page;
  let picture = page;
  if (Math.max(width, height) > maxSide) picture = scaleBy(picture, maxSide / Math.max(width, height));
  const shorter = Math.min(picture.width, picture.height);
  if (shorter < minSide) picture = scaleBy(picture, minSide / shorter);
  const [scaleX, scaleY] = [fround(width / picture.width), fround(height / picture.height)];
  const band = bandHeight(picture);
  const clamp = (value: number, limit: number): number => Math.min(Math.max(value, 0), limit);
  return {
    picture: band === 0 ? picture : addBands(picture, band),
    scaleX,
    scaleY,
    toPage: ([x, y]) => [clamp(fround(x * scaleX), width), clamp(fround(fround(y - band) * scaleY), height)],
  };
}

/** Width and height multiplied by a factor, as multiples of 32. */
export function scaledSize(
  { width, height }: Pick<Picture, "width" | "height">,
  factor: number,
): { width: number; height: number } {
  const scaled = (side: number): number => roundHalfEven(Math.trunc(side * factor) / sideUnit) * sideUnit;
  return { width: scaled(width), height: scaled(height) };
}

function scaleBy(picture: Picture, factor: number): Picture {
  const { width, height } = scaledSize(picture, factor);
  if (width > 0 && height > 0) return resizeLinear(picture, width, height);
  throw new InferyardError("INPUT_INVALID", `a page of ${picture.width} x ${picture.height} pixels is too narrow to be read`, {
    remedy: "cut it into parts whose longer side is at most 120 times the shorter one",
  });
}

/** Height in pixels of the bands above and below a page: 0 for most pages. */
function bandHeight({ width, height }: Picture): number {
  if (height > minPaddedHeight && width / height <= maxWidthToHeight) return 0;
  const padded = 2 * Math.max(Math.trunc(width / maxWidthToHeight), minPaddedHeight);
  return Math.trunc(Math.abs(padded - height) / 2);
}

function addBands({ width, height, channels, data }: Picture, band: number): Picture {
  const padded = new Uint8Array(width * (height + 2 * band) * channels);
  padded.set(data, band * width * channels);
  return { width, height: height + 2 * band, channels, data: padded };
}
