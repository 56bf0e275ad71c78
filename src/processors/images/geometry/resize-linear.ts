/** Bilinear resizing of 8-bit pictures with the fixed-point arithmetic of OpenCV's `resize` (INTER_LINEAR), bit for bit. */
import type { Picture } from "../picture.ts";
import { roundHalfEven } from "./rounding.ts";

/** Fractional bits of a coefficient: weights of two neighbours sum to 2048. */
const coefficientScale = 2048;

/** For each output position of one axis: the two source positions and their weights. */
interface AxisWeights {
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly firstWeight: Int32Array;
  readonly secondWeight: Int32Array;
}

/**
 * Resizes a picture without antialiasing, as `cv2.resize(picture, (width, height))` does: the centres of pixels are aligned, coefficients have 11 fractional
 * bits, and products are cut to 16 bits between the two passes. Halving both sides averages four pixels.
 */
export function resizeLinear(picture: Picture, width: number, height: number): Picture {
  const { channels } = picture;
  if (width === picture.width && height === picture.height) return picture;
  const data = new Uint8Array(width * height * channels);
  if (picture.width === 2 * width && picture.height === 2 * height) averageQuads(picture, data);
  else interpolate(picture, { width, height, channels, data });
  return { width, height, channels, data };
}

function averageQuads({ width, channels, data }: Picture, output: Uint8Array): void {
  const row = width * channels;
  const outputRow = row / 2;
  for (let at = 0; at < output.length; at++) {
    const column = at % outputRow;
    const from = 2 * ((at - column) / outputRow) * row + 2 * (column - (column % channels)) + (column % channels);
    output[at] =
      ((data[from] ?? 0) + (data[from + channels] ?? 0) + (data[from + row] ?? 0) + (data[from + row + channels] ?? 0) + 2) >> 2;
  }
}

function interpolate(picture: Picture, output: Picture): void {
  const { channels, data } = picture;
  const columns = weigh(picture.width, output.width, true);
  const rows = weigh(picture.height, output.height, false);
  const length = output.width * channels;
  const cache = new Map<number, Int32Array>();
  for (let y = 0; y < output.height; y++) {
    const [first = 0, second = 0] = [rows.first[y], rows.second[y]];
    for (const kept of cache.keys()) if (kept < first) cache.delete(kept);
    const above = resizedRow(first);
    const below = resizedRow(second);
    const [a = 0, b = 0] = [rows.firstWeight[y], rows.secondWeight[y]];
    const start = y * length;
    for (let x = 0; x < length; x++) {
      const sum = ((a * ((above[x] ?? 0) >> 4)) >> 16) + ((b * ((below[x] ?? 0) >> 4)) >> 16);
      output.data[start + x] = (sum + 2) >> 2;
    }
  }

  function resizedRow(y: number): Int32Array {
    const known = cache.get(y);
    if (known !== undefined) return known;
    const row = new Int32Array(length);
    const start = y * picture.width * channels;
    for (let x = 0; x < output.width; x++) {
      const left = start + (columns.first[x] ?? 0) * channels;
      const right = start + (columns.second[x] ?? 0) * channels;
      const [a = 0, b = 0] = [columns.firstWeight[x], columns.secondWeight[x]];
      for (let channel = 0; channel < channels; channel++)
        row[x * channels + channel] = (data[left + channel] ?? 0) * a + (data[right + channel] ?? 0) * b;
    }
    cache.set(y, row);
    return row;
  }
}

/** `atEdges`: whether a position beyond the border takes the weight 1 of the border pixel, as OpenCV does along rows. */
function weigh(size: number, resized: number, atEdges: boolean): AxisWeights {
  const scale = 1 / (resized / size);
  const [first, second] = [new Int32Array(resized), new Int32Array(resized)];
  const [firstWeight, secondWeight] = [new Int32Array(resized), new Int32Array(resized)];
  for (let at = 0; at < resized; at++) {
    const centre = Math.fround((at + 0.5) * scale - 0.5);
    const below = Math.floor(centre);
    let fraction = Math.fround(centre - below);
    if (atEdges && (below < 0 || below >= size - 1)) fraction = 0;
    first[at] = Math.min(Math.max(below, 0), size - 1);
    second[at] = Math.min(Math.max(below + 1, 0), size - 1);
    firstWeight[at] = roundHalfEven(Math.fround(1 - fraction) * coefficientScale);
    secondWeight[at] = roundHalfEven(fraction * coefficientScale);
  }
  return { first, second, firstWeight, secondWeight };
}
