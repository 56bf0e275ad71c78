/** Pictures turned by quarter and half turns. */
import type { Picture } from "../picture.ts";

/** A picture turned by 180 degrees. */
export function turnHalf({ width, height, channels, data }: Picture): Picture {
  const turned = new Uint8Array(data.length);
  for (let from = 0, to = data.length - channels; to >= 0; from += channels, to -= channels)
    for (let channel = 0; channel < channels; channel++) turned[to + channel] = data[from + channel] ?? 0;
  return { width, height, channels, data: turned };
}

/** A picture turned by 90 degrees counter-clockwise: its right column becomes the top row. */
export function turnQuarter({ width, height, channels, data }: Picture): Picture {
  const turned = new Uint8Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [from, to] = [(y * width + x) * channels, ((width - 1 - x) * height + y) * channels];
      for (let channel = 0; channel < channels; channel++) turned[to + channel] = data[from + channel] ?? 0;
    }
  return { width: height, height: width, channels, data: turned };
}
