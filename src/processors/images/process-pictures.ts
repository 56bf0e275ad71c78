/** Pictures to the tensor of a model, step by step as `ImageSettings` say. */
import { InferyardError } from "../../contract/errors.ts";
import { centreOffset, cropCentre, padCentre, turnClockwise } from "./arrange-picture.ts";
import type { ImageSettings } from "./image-settings.ts";
import { type Placement, letterbox, resizeBy } from "./letterbox.ts";
import type { Picture } from "./picture.ts";
import { createScalingTable, writePlanes } from "./pixel-values.ts";
import type { PictureSize } from "./resize-picture.ts";
import { computeTargetSize } from "./target-size.ts";

/** The pixel values of a batch. */
export interface PixelBatch {
  /** `[pictures, channels, height, width]`, or `[pictures, height, width, channels]` where the settings say so. */
  readonly shape: readonly [number, number, number, number];
  readonly data: Float32Array;
  /** 1 for pixels of the picture, 0 for padding: `[pictures, height, width]`. */
  readonly mask: Uint8Array;
  /** Where each picture is in its values, for models that locate things. */
  readonly placements: readonly Placement[];
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

/** A picture after all steps on 8-bit samples, and where the picture as given is in it. */
interface ArrangedPicture {
  readonly picture: Picture;
  readonly placement: Placement;
}

/** All steps on 8-bit samples: rotation, resizing, borders, crop. */
function arrange(picture: Picture, settings: ImageSettings): ArrangedPicture {
  const { alignLongAxis: axis, resize, thumbnail, padCentre: padded, cropCentre: cropped, reference } = settings;
  if (settings.letterbox !== undefined) return letterbox(picture, settings.letterbox, resize?.filter ?? "bilinear", reference);
  let result = picture;
  if (axis !== undefined && (axis.width - axis.height) * (result.width - result.height) < 0) result = turnClockwise(result);
  const upright = result;
  if (resize !== undefined) result = resizeBy(result, computeTargetSize(result, resize.rule), resize.filter, reference);
  if (thumbnail !== undefined) {
    const size = computeTargetSize(result, { kind: "exact", ...thumbnailSize(result, thumbnail) });
    result = resizeBy(result, size, thumbnail.filter, reference);
  }
  const [scaleX, scaleY] = [result.width / upright.width, result.height / upright.height];
  const frame = padded ?? result;
  const [paddedLeft, paddedTop] = [Math.floor((frame.width - result.width) / 2), Math.floor((frame.height - result.height) / 2)];
  if (padded !== undefined) result = padCentre(result, padded);
  const offset = cropped === undefined ? { left: 0, top: 0 } : centreOffset(result, cropped, reference);
  if (cropped !== undefined) result = cropCentre(result, cropped, reference);
  return { picture: result, placement: { scaleX, scaleY, left: paddedLeft - offset.left, top: paddedTop - offset.top } };
}

/** Pictures to one tensor. Throws INPUT_INVALID where they have different sizes after all steps and the settings do not pad, or do not fit into the padded size. */
export function processPictures(pictures: readonly Picture[], settings: ImageSettings): PixelBatch {
  const all = pictures.map((picture) => {
    if (picture.channels === settings.channels) return arrange(picture, settings);
    throw new InferyardError(
      "INPUT_INVALID",
      `the picture has ${picture.channels} channels; the model takes ${settings.channels}`,
    );
  });
  const arranged = all.map(({ picture }) => picture);
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
  const placements = all.map(({ placement }) => placement);
  if (settings.layout !== "channels-last")
    return { shape: [arranged.length, channels, height, width], data: planes, mask, placements };
  const data = interleave(planes, channels, height * width);
  return { shape: [arranged.length, height, width, channels], data, mask, placements };
}

/** The values of pictures that were processed one by one, as one batch. Throws INPUT_INVALID where their sizes differ. */
export function joinPixels(parts: readonly PixelBatch[]): PixelBatch {
  const [first, ...others] = parts;
  if (first === undefined) throw new InferyardError("INPUT_INVALID", "there is no picture");
  if (others.length === 0) return first;
  const [, ...size] = first.shape;
  const odd = others.find(({ shape }) => shape.slice(1).join() !== size.join());
  if (odd !== undefined)
    throw new InferyardError(
      "INPUT_INVALID",
      `pictures of [${odd.shape.slice(1).join(", ")}] and [${size.join(", ")}] values cannot be one batch of this model`,
    );
  const data = new Float32Array(first.data.length * parts.length);
  const mask = new Uint8Array(first.mask.length * parts.length);
  for (const [index, part] of parts.entries()) {
    data.set(part.data, index * first.data.length);
    mask.set(part.mask, index * first.mask.length);
  }
  const [, second, third, last] = first.shape;
  return { shape: [parts.length, second, third, last], data, mask, placements: parts.flatMap(({ placements }) => placements) };
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
