/** Pictures to the tensor of a model, step by step as `ImageSettings` say. */
import { InferyardError } from "../../contract/errors.ts";
import { cropCentre, padCentre, turnClockwise } from "./arrange-picture.ts";
import type { ImageSettings } from "./image-settings.ts";
import type { Picture } from "./picture.ts";
import { createScalingTable, writePlanes } from "./pixel-values.ts";
import { type PictureSize, resizePicture } from "./resize-picture.ts";
import { computeTargetSize } from "./target-size.ts";

/** The pixel values of a batch. */
export interface PixelBatch {
  /** `[pictures, channels, height, width]`, or `[pictures, height, width, channels]` where the settings say so. */
  readonly shape: readonly [number, number, number, number];
  readonly data: Float32Array;
  /** 1 for pixels of the picture, 0 for padding: `[pictures, height, width]`. */
  readonly mask: Uint8Array;
  /** Size of each picture before padding at its end. */
  readonly sizes: readonly PictureSize[];
}

/** Donut's thumbnail: the sides are limited one by one, then the shorter one follows the longer one. */
function thumbnailSize(picture: PictureSize, limit: PictureSize): PictureSize {
  const height = Math.min(picture.height, limit.height);
  const width = Math.min(picture.width, limit.width);
  if (height === picture.height && width === picture.width) return picture;
  if (picture.height > picture.width) return { height, width: Math.trunc((picture.width * height) / picture.height) };
  if (picture.width > picture.height) return { width, height: Math.trunc((picture.height * width) / picture.width) };
  return { height, width };
}

/** All steps on 8-bit samples: rotation, resizing, borders, crop. */
export function arrange(picture: Picture, settings: ImageSettings): Picture {
  const { alignLongAxis: axis, resize, thumbnail, padCentre: padded, cropCentre: cropped, reference } = settings;
  let result = picture;
  if (axis !== undefined && (axis.width - axis.height) * (result.width - result.height) < 0) result = turnClockwise(result);
  if (resize !== undefined) result = resizePicture(result, computeTargetSize(result, resize.rule), resize.filter, reference);
  if (thumbnail !== undefined) {
    const size = computeTargetSize(result, { kind: "exact", ...thumbnailSize(result, thumbnail) });
    result = resizePicture(result, size, thumbnail.filter, reference);
  }
  if (padded !== undefined) result = padCentre(result, padded);
  return cropped === undefined ? result : cropCentre(result, cropped, reference);
}

/** Pictures to one tensor. Throws INPUT_INVALID where they have different sizes after all steps and the settings do not pad, or do not fit into the padded size. */
export function processPictures(pictures: readonly Picture[], settings: ImageSettings): PixelBatch {
  const arranged = pictures.map((picture) => {
    if (picture.channels !== settings.channels)
      throw new InferyardError(
        "INPUT_INVALID",
        `the picture has ${picture.channels} channels; the model takes ${settings.channels}`,
      );
    return arrange(picture, settings);
  });
  const { width, height } = batchSize(arranged, settings);
  const { channels } = settings;
  const tables = Array.from({ length: channels }, (_, channel) => createScalingTable(settings, channel, settings.reference));
  const planes = new Float32Array(arranged.length * channels * height * width);
  const mask = new Uint8Array(arranged.length * height * width);
  for (const [index, picture] of arranged.entries()) {
    const offset = index * channels * height * width;
    writePlanes(picture, tables, planes, { offset, stride: width, rows: height, reverse: settings.reverseChannels });
    for (let row = 0; row < picture.height; row++) {
      const start = (index * height + row) * width;
      mask.fill(1, start, start + picture.width);
    }
  }
  const sizes = arranged.map((picture) => ({ width: picture.width, height: picture.height }));
  if (settings.layout !== "channels-last")
    return { shape: [arranged.length, channels, height, width], data: planes, mask, sizes };
  return { shape: [arranged.length, height, width, channels], data: interleave(planes, channels, height * width), mask, sizes };
}

function batchSize(pictures: readonly Picture[], { padEnd }: ImageSettings): PictureSize {
  const largest = {
    width: Math.max(...pictures.map(({ width }) => width)),
    height: Math.max(...pictures.map(({ height }) => height)),
  };
  const size = padEnd === undefined || padEnd === "batch" ? largest : padEnd;
  const other = pictures.find(({ width, height }) => width > size.width || height > size.height);
  if (other !== undefined)
    throw new InferyardError(
      "INPUT_INVALID",
      `a picture of ${other.width} x ${other.height} pixels does not fit into the model's ${size.width} x ${size.height}`,
    );
  const odd =
    padEnd === undefined ? pictures.find(({ width, height }) => width !== size.width || height !== size.height) : undefined;
  if (odd !== undefined)
    throw new InferyardError(
      "INPUT_INVALID",
      `pictures of ${odd.width} x ${odd.height} and ${size.width} x ${size.height} pixels cannot be one batch of this model`,
    );
  return size;
}

/** Planes to channels beside each other, picture by picture. */
function interleave(planes: Float32Array, channels: number, pixels: number): Float32Array {
  const out = new Float32Array(planes.length);
  for (let start = 0; start < planes.length; start += channels * pixels)
    for (let channel = 0; channel < channels; channel++)
      for (let pixel = 0; pixel < pixels; pixel++)
        out[start + pixel * channels + channel] = planes[start + channel * pixels + pixel] ?? 0;
  return out;
}
