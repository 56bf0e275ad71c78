/** Pages as red, green and blue, whatever channels their pictures have. */
import { greyToRgb } from "../../processors/images/picture-colours.ts";
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
  if (channels === 1) return { width, height, channels: 3, data: greyToRgb(data) };
  const opaque = new Uint8Array(3 * pixels);
  const ground = isOpaque(page) ? 0 : groundOf(page);
  for (let pixel = 0; pixel < pixels; pixel++) {
    if (data[4 * pixel + 3] === 255) {
      opaque[3 * pixel] = data[4 * pixel] ?? 0;
      opaque[3 * pixel + 1] = data[4 * pixel + 1] ?? 0;
      opaque[3 * pixel + 2] = data[4 * pixel + 2] ?? 0;
      continue;
    }
    const alpha = fround((data[4 * pixel + 3] ?? 0) / 255);
    for (let channel = 0; channel < 3; channel++) {
      const value = data[4 * pixel + channel] ?? 0;
      opaque[3 * pixel + channel] = fround(fround(value * alpha) + fround(ground * fround(1 - alpha)));
    }
  }
  return { width, height, channels: 3, data: opaque };
}

function isOpaque({ data }: Picture): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
  return true;
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
