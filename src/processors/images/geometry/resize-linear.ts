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
  const { channels } = picture;
  const columns = weigh(picture.width, output.width, true);
  const rows = weigh(picture.height, output.height, false);
  const length = output.width * channels;
  const out = output.data;
  // The two rows that the last output row was made of: source rows are ascending, and most are needed again.
  let [above, below] = [new Int32Array(length), new Int32Array(length)];
  let aboveRow = -1;
  let belowRow = -1;
  for (let y = 0; y < output.height; y++) {
    const first = rows.first[y] ?? 0;
    const second = rows.second[y] ?? 0;
    if (first === belowRow && first !== aboveRow) {
      [above, below] = [below, above];
      [aboveRow, belowRow] = [belowRow, aboveRow];
    }
    if (first !== aboveRow) resizeRow(picture, first, columns, above);
    aboveRow = first;
    if (second !== belowRow) resizeRow(picture, second, columns, below);
    belowRow = second;
    const a = rows.firstWeight[y] ?? 0;
    const b = rows.secondWeight[y] ?? 0;
    const start = y * length;
    for (let x = 0; x < length; x++) {
      const sum = ((a * ((above[x] ?? 0) >> 4)) >> 16) + ((b * ((below[x] ?? 0) >> 4)) >> 16);
      out[start + x] = (sum + 2) >> 2;
    }
  }
}

/** One row of the source in the width of the output, times 2048. */
function resizeRow({ width, channels, data }: Picture, y: number, columns: AxisWeights, row: Int32Array): void {
  const { first, second, firstWeight, secondWeight } = columns;
  const start = y * width * channels;
  let at = 0;
  for (let x = 0; x < first.length; x++) {
    const left = start + (first[x] ?? 0) * channels;
    const right = start + (second[x] ?? 0) * channels;
    const a = firstWeight[x] ?? 0;
    const b = secondWeight[x] ?? 0;
    if (channels === 3) {
      row[at] = Math.imul(data[left] ?? 0, a) + Math.imul(data[right] ?? 0, b);
      row[at + 1] = Math.imul(data[left + 1] ?? 0, a) + Math.imul(data[right + 1] ?? 0, b);
      row[at + 2] = Math.imul(data[left + 2] ?? 0, a) + Math.imul(data[right + 2] ?? 0, b);
      at += 3;
    } else
      for (let channel = 0; channel < channels; channel++)
        row[at++] = Math.imul(data[left + channel] ?? 0, a) + Math.imul(data[right + channel] ?? 0, b);
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
