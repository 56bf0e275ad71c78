/** Pictures seen through a perspective transform, with bicubic interpolation as OpenCV 5's `warpPerspective` computes it. */
import type { Picture } from "../picture.ts";
import type { PictureSize } from "../resize-picture.ts";
import { fusedMultiplyAdd as fused } from "./rounding.ts";

const { fround } = Math;

/** Parameter of the cubic kernel (Keys 1981). */
const sharpness = -0.75;

/** Weights of four neighbours of a position with the fraction `alpha` between the second and the third, in float32. */
function cubicWeights(alpha: number, weights: Float32Array): void {
  const rest = fround(1 - alpha);
  const squared = fround(alpha * alpha);
  const first = fround(sharpness * fround(alpha * fround(rest * rest)));
  const last = fround(sharpness * fround(squared * rest));
  const second = fused(squared, fused(sharpness + 2, alpha, -(sharpness + 3)), 1);
  weights[0] = first;
  weights[1] = second;
  weights[2] = fround(fround(fround(1 - first) - second) - last);
  weights[3] = last;
}

/**
 * The picture of `size` whose pixel at (x, y) is that of `picture` at `inverse (x, y)`: `cv2.warpPerspective` with INTER_CUBIC and BORDER_REPLICATE.
 * `inverse`: row-major 3 x 3 matrix from the result to the picture. Sums are float32 with fused multiply-adds, rounded half to even.
 */
export function warpPerspective(picture: Picture, inverse: Float64Array, size: PictureSize): Picture {
  const { width, height, channels, data: source } = picture;
  const matrix = Float32Array.from(inverse);
  const [xx = 0, xy = 0, x0 = 0, yx = 0, yy = 0, y0 = 0, wx = 0, wy = 0, w0 = 0] = matrix;
  const data = new Uint8Array(size.width * size.height * channels);
  const [columnWeights, rowWeights] = [new Float32Array(4), new Float32Array(4)];
  const rows = new Int32Array(4);
  for (let y = 0; y < size.height; y++) {
    const rowX = fround(fround(y * xy) + x0);
    const rowY = fround(fround(y * yy) + y0);
    const rowW = fround(fround(y * wy) + w0);
    for (let x = 0; x < size.width; x++) {
      const scale = 1 / (rowW + wx * x);
      const atX = clampPosition(fround((rowX + xx * x) * scale), picture.width);
      const atY = clampPosition(fround((rowY + yx * x) * scale), picture.height);
      const left = Math.floor(atX) - 1;
      const top = Math.floor(atY) - 1;
      cubicWeights(fround(atX - left - 1), columnWeights);
      cubicWeights(fround(atY - top - 1), rowWeights);
      const c0 = clamp(left, width) * channels;
      const c1 = clamp(left + 1, width) * channels;
      const c2 = clamp(left + 2, width) * channels;
      const c3 = clamp(left + 3, width) * channels;
      const a0 = columnWeights[0] ?? 0;
      const a1 = columnWeights[1] ?? 0;
      const a2 = columnWeights[2] ?? 0;
      const a3 = columnWeights[3] ?? 0;
      for (let row = 0; row < 4; row++) rows[row] = clamp(top + row, height) * width * channels;
      const target = (y * size.width + x) * channels;
      for (let channel = 0; channel < channels; channel++) {
        let sum = 0;
        for (let row = 0; row < 4; row++) {
          const start = (rows[row] ?? 0) + channel;
          let across = fround((source[start + c0] ?? 0) * a0);
          across = fused(source[start + c1] ?? 0, a1, across);
          across = fused(source[start + c2] ?? 0, a2, across);
          across = fused(source[start + c3] ?? 0, a3, across);
          sum = fused(across, rowWeights[row] ?? 0, sum);
        }
        data[target + channel] = toByte(sum);
      }
    }
  }
  return { width: size.width, height: size.height, channels, data };
}

/** The nearest byte, the even one of two that are equally near. */
function toByte(value: number): number {
  if (value <= 0) return 0;
  if (value >= 255) return 255;
  const below = Math.trunc(value);
  const fraction = value - below;
  return fraction > 0.5 || (fraction === 0.5 && (below & 1) === 1) ? below + 1 : below;
}

function clamp(index: number, size: number): number {
  return index < 0 ? 0 : index >= size ? size - 1 : index;
}

/** Keeps a coordinate within three times the size of the picture, so that its floor is a small integer. */
function clampPosition(position: number, size: number): number {
  const limit = Math.max(size, 16);
  return Math.min(Math.max(position, -limit), 2 * limit);
}
