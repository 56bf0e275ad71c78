/** A whole picture in a frame of a fixed size: its proportions stay, and the rest of the frame has one colour. */
import { InferyardError } from "../../contract/errors.ts";
import { isJsonObject } from "../../formats/json/exact-json.ts";
import { cropPicture } from "./arrange-picture.ts";
import { resizeLinear } from "./geometry/resize-linear.ts";
import type { Colour } from "./picture-colours.ts";
import type { Picture } from "./picture.ts";
import type { SettingsFilter } from "./resampling-filters.ts";
import { type PictureSize, type ResizeReference, resizePicture } from "./resize-picture.ts";
import { type Fields, readNumbers, readSize } from "./size-fields.ts";

/** How a picture is put into its frame. */
export interface LetterboxRule extends PictureSize {
  /** Where the picture is: in the middle (as ultralytics has it), or at the upper left. */
  readonly position: "centre" | "corner";
  /** "resize": the picture is resized, then its borders are added. "pad": borders are added first, and resized with it. */
  readonly order: "resize" | "pad";
  readonly fill: Colour;
}

/** Where a picture is in what a model sees: `x` of the picture is at `x * scaleX + left`. */
export interface Placement {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly left: number;
  readonly top: number;
}

/** Pixels that a picture may be enlarged to: a strip of 1 x 30,000 pixels, a file of some bytes, has 1.5 gigapixels where its shorter edge has 224. */
const maxEnlargedPixels = 16_000_000;

/** Resizes by one of the filters of settings. Throws LIMIT_EXCEEDED for a picture that would be enlarged to more than 16 megapixels. */
export function resizeBy(picture: Picture, size: PictureSize, filter: SettingsFilter, reference: ResizeReference): Picture {
  const pixels = size.width * size.height;
  if (pixels > Math.max(maxEnlargedPixels, picture.width * picture.height))
    throw new InferyardError(
      "LIMIT_EXCEEDED",
      `the picture of ${picture.width} x ${picture.height} pixels would be enlarged to ${size.width} x ${size.height}; the limit is ${maxEnlargedPixels} pixels`,
      { remedy: "cut the picture, so that its sides are more alike", data: { value: pixels, limit: maxEnlargedPixels } },
    );
  return filter === "opencv-linear"
    ? resizeLinear(picture, size.width, size.height)
    : resizePicture(picture, size, filter, reference);
}

/** Puts a picture into its frame. */
export function letterbox(
  picture: Picture,
  { width, height, position, order, fill }: LetterboxRule,
  filter: SettingsFilter,
  reference: ResizeReference,
): { readonly picture: Picture; readonly placement: Placement } {
  const scale = Math.min(width / picture.width, height / picture.height);
  const borderOf = (room: number): number => (position === "corner" ? 0 : Math.round(room / 2 - 0.1));
  if (order === "pad") {
    const frame = {
      width: Math.max(picture.width, Math.round(width / scale)),
      height: Math.max(picture.height, Math.round(height / scale)),
    };
    const [left, top] = [borderOf(frame.width - picture.width), borderOf(frame.height - picture.height)];
    const padded = cropPicture(picture, { left: 0 - left, top: 0 - top, ...frame }, fill);
    const [scaleX, scaleY] = [width / frame.width, height / frame.height];
    return {
      picture: resizeBy(padded, { width, height }, filter, reference),
      placement: { scaleX, scaleY, left: left * scaleX, top: top * scaleY },
    };
  }
  const inner = {
    width: Math.max(1, Math.round(picture.width * scale)),
    height: Math.max(1, Math.round(picture.height * scale)),
  };
  const [left, top] = [borderOf(width - inner.width), borderOf(height - inner.height)];
  const resized = resizeBy(picture, inner, filter, reference);
  return {
    picture: cropPicture(resized, { left: 0 - left, top: 0 - top, width, height }, fill),
    placement: { scaleX: scale, scaleY: scale, left, top },
  };
}

/** Reads the field `letterbox`: a size, and `position`, `order` and `fill`. Throws MODEL_INVALID. */
export function readLetterbox(value: unknown, file: string): LetterboxRule {
  const { position = "centre", order = "resize", fill = [114, 114, 114], ...sides }: Fields = isJsonObject(value) ? value : {};
  const { height, width } = readSize(sides, "letterbox", file);
  const isColour = readNumbers(fill, "letterbox.fill", file).every(
    (sample) => Number.isInteger(sample) && sample >= 0 && sample <= 255,
  );
  if (
    height === undefined ||
    width === undefined ||
    !isColour ||
    (position !== "centre" && position !== "corner") ||
    (order !== "resize" && order !== "pad")
  )
    throw new InferyardError(
      "MODEL_INVALID",
      `${file}: letterbox is ${JSON.stringify(value)}; allowed: height, width, position (centre, corner), order (resize, pad) and fill (a sample from 0 to 255 per channel)`,
    );
  const [red = 0, green = red, blue = red] = readNumbers(fill, "letterbox.fill", file);
  return { width, height, position, order, fill: [red, green, blue] };
}
