/** Pictures to the tensors of PP-OCR's networks: channels blue, green, red; samples from -1 to 1. */
import type { Tensor } from "../../contract/tensor.ts";
import { resizeLinear } from "../../processors/images/geometry/resize-linear.ts";
import type { Picture } from "../../processors/images/picture.ts";
import { scaledSize } from "./fit-page.ts";

const { fround } = Math;

/** Shorter side in pixels of the detector's input, at least. */
const detectorSide = 736;
/** Pixels of the detector's input at most: a long and narrow page is enlarged less than to `detectorSide`. */
const maxDetectorPixels = 8_000_000;

/** Samples of the detector: value * (1 / 255) in float32, then (x - 0.5) / 0.5 in float64. */
const detectorSamples = Float32Array.from({ length: 256 }, (_, value) => (fround(value * fround(1 / 255)) - 0.5) / 0.5);
/** Samples of classifier and recognizer: value / 255, minus 0.5, divided by 0.5, each in float32. */
const lineSamples = Float32Array.from({ length: 256 }, (_, value) => fround(fround(value / 255) - 0.5) / 0.5);

/** The detector's input `[1, 3, height, width]`: the page enlarged until its shorter side has 736 pixels, with sides of multiples of 32. */
export function detectorInput(page: Picture): Tensor {
  const needed = Math.max(detectorSide / Math.min(page.width, page.height), 1);
  const allowed = Math.sqrt(maxDetectorPixels / (page.width * page.height));
  const { width, height } = scaledSize(page, Math.min(needed, Math.max(allowed, 1)));
  const data = new Float32Array(3 * width * height);
  writePlanes(resizeLinear(page, width, height), detectorSamples, { data, start: 0, width, height });
  return { dataType: "float32", shape: [1, 3, height, width], data };
}

/** Input `[lines, 3, height, width]` of classifier or recognizer: each line resized to `height` and at most `width`, with zeros to its right. */
export function lineInput(lines: readonly Picture[], height: number, width: number): Tensor {
  const size = 3 * height * width;
  const data = new Float32Array(lines.length * size);
  lines.forEach((line, index) => {
    const resized = resizeLinear(line, Math.min(Math.ceil(height * (line.width / line.height)), width), height);
    writePlanes(resized, lineSamples, { data, start: index * size, width, height });
  });
  return { dataType: "float32", shape: [lines.length, 3, height, width], data };
}

/** Writes the planes blue, green and red of a picture to the left upper corner of planes of `width` x `height`. */
function writePlanes(
  { width: columns, height: rows, data: source }: Picture,
  samples: Float32Array,
  { data, start, width, height }: { data: Float32Array; start: number; width: number; height: number },
): void {
  const plane = width * height;
  for (let y = 0; y < rows; y++) {
    let from = y * columns * 3;
    let to = start + y * width;
    for (let x = 0; x < columns; x++, from += 3, to++) {
      data[to] = samples[source[from + 2] ?? 0] ?? 0;
      data[to + plane] = samples[source[from + 1] ?? 0] ?? 0;
      data[to + 2 * plane] = samples[source[from] ?? 0] ?? 0;
    }
  }
}
