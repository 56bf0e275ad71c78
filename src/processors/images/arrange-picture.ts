/** Crops, borders and rotations of pictures, without resampling. */
import { InferyardError } from "../../contract/errors.ts";
import type { Picture } from "./picture.ts";
import type { PictureSize, ResizeReference } from "./resize-picture.ts";
import type { Colour } from "./picture-colours.ts";

/** A rectangle; its corner may lie outside the picture. */
export interface PictureBox extends PictureSize {
  readonly left: number;
  readonly top: number;
}

/** The pixels of a rectangle. Those outside the picture have the colour `fill`, black by default. */
export function cropPicture(picture: Picture, { left, top, width, height }: PictureBox, fill: Colour = [0, 0, 0]): Picture {
  const { channels } = picture;
  const data = new Uint8Array(width * height * channels);
  const isInside = left >= 0 && top >= 0 && left + width <= picture.width && top + height <= picture.height;
  if (!isInside && fill.some((sample) => sample !== 0))
    for (let index = 0; index < data.length; index++) data[index] = fill[index % channels] ?? 255;
  const [firstColumn, lastColumn] = [Math.max(0, left), Math.min(picture.width, left + width)];
  if (lastColumn > firstColumn)
    for (let row = Math.max(0, top); row < Math.min(picture.height, top + height); row++) {
      const start = row * picture.width;
      const samples = picture.data.subarray((start + firstColumn) * channels, (start + lastColumn) * channels);
      data.set(samples, ((row - top) * width + firstColumn - left) * channels);
    }
  return { width, height, channels, data };
}

/**
 * The corner of the middle of a picture; negative where it is smaller. Where borders are odd, transformers' NumPy code puts the wider one before the picture, torchvision
 * behind it.
 */
export function centreOffset(
  picture: PictureSize,
  { width, height }: PictureSize,
  reference: ResizeReference,
): { readonly left: number; readonly top: number } {
  const offset = (has: number, wanted: number): number => {
    if (has >= wanted) return Math.floor((has - wanted) / 2);
    return reference === "torchvision" ? 0 - Math.floor((wanted - has) / 2) : 0 - Math.ceil((wanted - has) / 2);
  };
  return { left: offset(picture.width, width), top: offset(picture.height, height) };
}

/** The middle of a picture, with black borders where it is smaller. */
export function cropCentre(picture: Picture, size: PictureSize, reference: ResizeReference): Picture {
  if (picture.width === size.width && picture.height === size.height) return picture;
  return cropPicture(picture, { ...centreOffset(picture, size, reference), ...size });
}

/** Borders that make a picture as large as `size`: half before and half behind it, the odd pixel behind. Throws INPUT_INVALID for a larger picture. */
export function padCentre(picture: Picture, { width, height }: PictureSize): Picture {
  if (picture.width > width || picture.height > height)
    throw new InferyardError(
      "INPUT_INVALID",
      `a picture of ${picture.width} x ${picture.height} pixels does not fit into ${width} x ${height}`,
    );
  const [left, top] = [-Math.floor((width - picture.width) / 2), -Math.floor((height - picture.height) / 2)];
  return cropPicture(picture, { left, top, width, height });
}

/** Turns a picture by 90 degrees clockwise. */
export function turnClockwise({ width, height, channels, data }: Picture): Picture {
  const out = new Uint8Array(data.length);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const source = (row * width + column) * channels;
      const target = (column * height + (height - 1 - row)) * channels;
      for (let channel = 0; channel < channels; channel++) out[target + channel] = data[source + channel] ?? 0;
    }
  return { width: height, height: width, channels, data: out };
}
