/** 8-bit samples to numbers of models: rescaled, normalized, channel by channel. */
import type { Picture } from "./picture.ts";
import type { ResizeReference } from "./resize-picture.ts";

/** How samples become numbers: `(sample * factor - mean) / std`. */
export interface PixelScaling {
  /** Default: samples stay from 0 to 255. */
  readonly factor?: number | undefined;
  /** Mean and standard deviation of each channel, in the order of the output. Default: none is subtracted. */
  readonly normalization?: { readonly mean: readonly number[]; readonly std: readonly number[] } | undefined;
}

/**
 * The number of each of the 256 samples in one channel, in 32-bit floats with the roundings of the reference: NumPy rescales in 64 bits and rounds before it
 * normalizes; torchvision's processors scale mean and deviation instead.
 */
export function createScalingTable(
  { factor, normalization }: PixelScaling,
  channel: number,
  reference: ResizeReference,
): Float32Array {
  const { fround } = Math;
  const table = new Float32Array(256);
  const mean = normalization?.mean[channel] ?? 0;
  const std = normalization?.std[channel] ?? 1;
  for (let sample = 0; sample < 256; sample++) {
    if (normalization === undefined) table[sample] = factor === undefined ? sample : sample * factor;
    else if (reference === "torchvision" && factor !== undefined) {
      const inverse = 1 / factor;
      table[sample] = fround(sample - fround(fround(mean) * fround(inverse))) / fround(fround(std) * fround(inverse));
    } else table[sample] = fround(fround(factor === undefined ? sample : sample * factor) - fround(mean)) / fround(std);
  }
  return table;
}

/** Writes a picture as planes `[channels, height, width]` into `target` at `offset`, whose rows have `stride` numbers and planes `rows` rows. */
export function writePlanes(
  { width, height, channels, data }: Picture,
  tables: readonly Float32Array[],
  target: Float32Array,
  { offset, stride, rows, reverse }: { offset: number; stride: number; rows: number; reverse: boolean },
): void {
  for (let channel = 0; channel < channels; channel++) {
    const table = tables[channel] ?? new Float32Array(256);
    const sourceChannel = reverse ? channels - 1 - channel : channel;
    for (let row = 0; row < height; row++) {
      let source = row * width * channels + sourceChannel;
      const start = offset + (channel * rows + row) * stride;
      for (let column = 0; column < width; column++) {
        target[start + column] = table[data[source] ?? 0] ?? 0;
        source += channels;
      }
    }
  }
}
