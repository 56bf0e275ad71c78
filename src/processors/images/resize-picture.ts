/** Pictures in another size, with the samples that Pillow's `Image.resize` or torchvision's `resize` gives. */
import { LruMap } from "../../concurrency/lru-map.ts";
import type { Picture } from "./picture.ts";
import { type AxisWeights, type ResamplingFilter, createAxisWeights } from "./resampling-filters.ts";
import { resizeColumnsByKernel, resizeRowsByKernel } from "./simd/resize-kernels.ts";

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
    from.width === width ? from : resizeRows(from, getAxisWeights(from.width, width, filter, precision), width);
  const columns = (from: Picture): Picture =>
    from.height === height ? from : resizeColumns(from, getAxisWeights(from.height, height, filter, precision), height);
  return reference === "pillow" && columnsFirst(picture, { width, height }) ? rows(columns(picture)) : columns(rows(picture));
}

/** Weights of the last pairs of sizes, which the pictures of a call often share. */
const knownWeights = new LruMap<AxisWeights>(2 ** 18);

/** See `createAxisWeights`. */
function getAxisWeights(...[source, target, filter, precision]: Parameters<typeof createAxisWeights>): AxisWeights {
  const key = [source, target, filter, precision].join(" ");
  const known = knownWeights.get(key);
  if (known !== undefined) return known;
  const created = createAxisWeights(source, target, filter, precision);
  knownWeights.set(key, created, created.weights.length);
  return created;
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
  const from = picture.width;
  if (channels !== 3) resizeSampleRows(picture, axis, { width, data });
  else if (!resizeRowsByKernel({ data: picture.data, from, height }, axis, data))
    resizeSampleRows(picture, axis, { width, data });
  return { width, height, channels, data };
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
function resizeColumns({ data, width, height: from, channels }: Picture, axis: AxisWeights, height: number): Picture {
  const { starts, counts, weights, stride, bits } = axis;
  const half = 1 << (bits - 1);
  const length = width * channels;
  const out = new Uint8Array(length * height);
  if (resizeColumnsByKernel({ data, from, length }, axis, out)) return { width, height, channels, data: out };
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
