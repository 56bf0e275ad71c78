/** Pictures in another size, with the samples that Pillow's `Image.resize` or torchvision's `resize` gives. */
import type { Picture } from "./picture.ts";
import { type AxisWeights, type ResamplingFilter, createAxisWeights } from "./resampling-filters.ts";

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Whose results are matched: Pillow 13's, those of Pillow up to 12.3, or those of torchvision's `resize` on 8-bit tensors with antialiasing. */
export type ResizeReference = "pillow" | "pillow-12" | "torchvision";

/**
 * Resizes a picture bit for bit as the reference does: rows and columns apart, each in fixed point with rounding to 8 bits. Rows come first, but for one case of Pillow
 * 13. Channels are resized apart; Pillow multiplies colours by alpha first, which this does not.
 */
export function resizePicture(
  picture: Picture,
  { width, height }: PictureSize,
  filter: ResamplingFilter,
  reference: ResizeReference = "pillow",
): Picture {
  if (picture.width === width && picture.height === height) return picture;
  if (filter === "nearest") return resizeNearest(picture, { width, height });
  const precision = reference === "torchvision" ? "torch" : "pillow";
  const rows = (from: Picture): Picture =>
    from.width === width ? from : resizeRows(from, createAxisWeights(from.width, width, filter, precision), width);
  const columns = (from: Picture): Picture =>
    from.height === height ? from : resizeColumns(from, createAxisWeights(from.height, height, filter, precision), height);
  return reference === "pillow" && columnsFirst(picture, { width, height }) ? rows(columns(picture)) : columns(rows(picture));
}

/** Pillow 13 resizes columns first where the height shrinks by more than twice the pixels by which the width does. Measured: 8,900 resized pictures follow it. */
function columnsFirst(picture: Picture, { width, height }: PictureSize): boolean {
  return height < picture.height && picture.height - height > 2 * (picture.width - width);
}

function clampToByte(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** Every row in another width. */
function resizeRows(picture: Picture, axis: AxisWeights, width: number): Picture {
  const { height, channels } = picture;
  const data = new Uint8Array(width * height * channels);
  if (channels === 3) resizeColourRows(picture, axis, { width, data });
  else resizeSampleRows(picture, axis, { width, data });
  return { width, height, channels, data };
}

/** Rows of pixels of three samples, whose sums are kept in three variables: no array, no function call and no range check in the innermost loop. */
function resizeColourRows(
  { data, width: from, height }: Picture,
  { starts, counts, weights, stride, bits }: AxisWeights,
  { width, data: out }: Pick<Picture, "width" | "data">,
): void {
  const half = 1 << (bits - 1);
  let target = 0;
  for (let row = 0; row < height; row++) {
    const rowStart = row * from * 3;
    for (let column = 0; column < width; column++) {
      let index = (rowStart + (starts[column] ?? 0) * 3) | 0;
      let at = column * stride;
      const end = at + (counts[column] ?? 0);
      let red = half;
      let green = half;
      let blue = half;
      while (at < end) {
        const weight = weights[at++] ?? 0;
        red = (red + Math.imul(data[index] ?? 0, weight)) | 0;
        green = (green + Math.imul(data[index + 1] ?? 0, weight)) | 0;
        blue = (blue + Math.imul(data[index + 2] ?? 0, weight)) | 0;
        index = (index + 3) | 0;
      }
      out[target] = clampToByte(red >> bits);
      out[target + 1] = clampToByte(green >> bits);
      out[target + 2] = clampToByte(blue >> bits);
      target += 3;
    }
  }
}

function resizeSampleRows(
  { data, width: from, height, channels }: Picture,
  { starts, counts, weights, stride, bits }: AxisWeights,
  { width, data: out }: Pick<Picture, "width" | "data">,
): void {
  const half = 1 << (bits - 1);
  let target = 0;
  for (let row = 0; row < height; row++) {
    const rowStart = row * from * channels;
    for (let column = 0; column < width; column++) {
      const first = rowStart + (starts[column] ?? 0) * channels;
      const count = counts[column] ?? 0;
      const weightStart = column * stride;
      for (let channel = 0; channel < channels; channel++) {
        let sum = half;
        for (let tap = 0, index = first + channel; tap < count; tap++, index += channels)
          sum = (sum + Math.imul(data[index] ?? 0, weights[weightStart + tap] ?? 0)) | 0;
        out[target++] = clampToByte(sum >> bits);
      }
    }
  }
}

/** Every column in another height. The sums of a whole row are kept, so that memory is read in its order. */
function resizeColumns({ data, width, channels }: Picture, axis: AxisWeights, height: number): Picture {
  const { starts, counts, weights, stride, bits } = axis;
  const half = 1 << (bits - 1);
  const length = width * channels;
  const out = new Uint8Array(length * height);
  const sums = new Int32Array(length);
  for (let row = 0; row < height; row++) {
    sums.fill(half);
    const count = counts[row] ?? 0;
    for (let tap = 0; tap < count; tap++) {
      const weight = weights[row * stride + tap] ?? 0;
      const source = ((starts[row] ?? 0) + tap) * length;
      for (let index = 0; index < length; index++)
        sums[index] = ((sums[index] ?? 0) + Math.imul(data[source + index] ?? 0, weight)) | 0;
    }
    const target = row * length;
    for (let index = 0; index < length; index++) out[target + index] = clampToByte((sums[index] ?? 0) >> bits);
  }
  return { width, height, channels, data: out };
}

/** The source index below the centre of each output pixel. The position is a running sum, whose rounding Pillow's affine transform shares. */
function nearestIndices(source: number, target: number): Int32Array {
  const step = source / target;
  const indices = new Int32Array(target);
  let position = step * 0.5;
  for (let out = 0; out < target; out++) {
    indices[out] = Math.min(source - 1, Math.trunc(position));
    position += step;
  }
  return indices;
}

function resizeNearest(picture: Picture, { width, height }: PictureSize): Picture {
  const { channels } = picture;
  const columns = nearestIndices(picture.width, width);
  const rows = nearestIndices(picture.height, height);
  const out = new Uint8Array(width * height * channels);
  let target = 0;
  for (const row of rows) {
    for (const column of columns) {
      const source = (row * picture.width + column) * channels;
      for (let channel = 0; channel < channels; channel++) out[target++] = picture.data[source + channel] ?? 0;
    }
  }
  return { width, height, channels, data: out };
}
