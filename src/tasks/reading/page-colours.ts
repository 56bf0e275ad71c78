/** Pages as red, green and blue, whatever channels their pictures have. */
import type { Picture } from "../../processors/images/picture.ts";

const { fround } = Math;

/**
 * A page with three channels. Behind transparent pixels is white where the visible ones are dark in the mean (luma below 128), and black otherwise, so that text
 * on a transparent ground stays legible; rapidocr does the same.
 */
export function toThreeChannels(page: Picture): Picture {
  const { width, height, channels, data } = page;
  if (channels === 3) return page;
  const pixels = width * height;
  const opaque = new Uint8Array(3 * pixels);
  if (channels === 1) {
    for (let pixel = 0; pixel < pixels; pixel++) opaque.fill(data[pixel] ?? 0, 3 * pixel, 3 * pixel + 3);
    return { width, height, channels: 3, data: opaque };
  }
  const ground = groundOf(page);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const alpha = fround((data[4 * pixel + 3] ?? 0) / 255);
    for (let channel = 0; channel < 3; channel++) {
      const value = data[4 * pixel + channel] ?? 0;
      opaque[3 * pixel + channel] = fround(fround(value * alpha) + fround(ground * fround(1 - alpha)));
    }
  }
  return { width, height, channels: 3, data: opaque };
}

function groundOf({ data }: Picture): number {
  let [sum, visible] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 0) continue;
    sum += 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
    visible++;
  }
  return visible === 0 || sum / visible < 128 ? 255 : 0;
}
