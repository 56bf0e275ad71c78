/** Lines cut out of a page. */
import { invertTransform, perspectiveTransform } from "../../processors/images/geometry/perspective.ts";
import { type Quadrilateral, distance32 } from "../../processors/images/geometry/points.ts";
import { turnQuarter } from "../../processors/images/geometry/turn-picture.ts";
import { warpPerspective } from "../../processors/images/geometry/warp-perspective.ts";
import type { Picture } from "../../processors/images/picture.ts";

/** A line cut out of a page and set upright. */
export interface LinePicture {
  readonly picture: Picture;
  /** Whether it was turned by a quarter counter-clockwise, since it is at least one and a half times as high as wide. */
  readonly turned: boolean;
}

/** Height over width from which a line is read from top to bottom. */
const verticalRatio = 1.5;

/**
 * Cuts a box out of a page and flattens it to a rectangle with its longer sides. Undefined for a box whose corners span no area, such as one whose corners were all
 * moved to one edge of the page.
 */
export function cutLine(page: Picture, box: Quadrilateral): LinePicture | undefined {
  const [upperLeft, upperRight, lowerRight, lowerLeft] = box;
  const width = Math.trunc(Math.max(distance32(upperLeft, upperRight), distance32(lowerRight, lowerLeft)));
  const height = Math.trunc(Math.max(distance32(upperLeft, lowerLeft), distance32(upperRight, lowerRight)));
  if (width === 0 || height === 0) return undefined;
  const matrix = perspectiveTransform(box, [[0, 0], [width, 0], [width, height], [0, height]]); // prettier-ignore
  const inverse = matrix && invertTransform(matrix);
  if (inverse === undefined) return undefined;
  const picture = warpPerspective(page, inverse, { width, height });
  const turned = height / width >= verticalRatio;
  return { picture: turned ? turnQuarter(picture) : picture, turned };
}
