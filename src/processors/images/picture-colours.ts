/** Conversions between the colours of pictures, with the integer arithmetic of Pillow's `Image.convert` and `Image.alpha_composite`. */

/** Red, green and blue from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** Division by 255 with rounding, of a product of two bytes: Pillow's MULDIV255. */
function timesOver255(left: number, right: number): number {
  const product = left * right + 128;
  return ((product >> 8) + product) >> 8;
}

/** CMYK to RGB without a colour profile: `(255 - ink) * (255 - black) / 255`, as Pillow converts. */
export function cmykToRgb(cmyk: Uint8Array): Uint8Array {
  const pixels = cmyk.length / 4;
  const rgb = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const light = 255 - (cmyk[pixel * 4 + 3] ?? 0);
    for (let ink = 0; ink < 3; ink++) {
      const absorbed = timesOver255(cmyk[pixel * 4 + ink] ?? 0, light);
      rgb[pixel * 3 + ink] = Math.max(0, light - absorbed);
    }
  }
  return rgb;
}

/** Lays RGBA over a colour, or drops its alpha where the colour is "none" (as Pillow's `convert("RGB")` does): RGB. */
export function flattenAlpha(rgba: Uint8Array, background: Colour | "none"): Uint8Array {
  const pixels = rgba.length / 4;
  const rgb = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const alpha = background === "none" ? 255 : (rgba[pixel * 4 + 3] ?? 0);
    for (let channel = 0; channel < 3; channel++) {
      const sample = rgba[pixel * 4 + channel] ?? 0;
      const behind = background === "none" ? 0 : (background[channel] ?? 0);
      const sum = (sample * alpha + behind * (255 - alpha)) * 128 + (128 << 7);
      rgb[pixel * 3 + channel] = ((sum >> 8) + sum) >> 15;
    }
  }
  return rgb;
}

/** RGB to grey by the weights of ITU-R 601-2: `0.299 R + 0.587 G + 0.114 B` in 16-bit fixed point, as Pillow's `convert("L")`. */
export function rgbToGrey(rgb: Uint8Array): Uint8Array {
  const pixels = rgb.length / 3;
  const grey = new Uint8Array(pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [red = 0, green = 0, blue = 0] = [rgb[pixel * 3], rgb[pixel * 3 + 1], rgb[pixel * 3 + 2]];
    grey[pixel] = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
  }
  return grey;
}

/** Adds an opaque alpha channel to RGB. */
export function addAlpha(rgb: Uint8Array): Uint8Array {
  const pixels = rgb.length / 3;
  const rgba = new Uint8Array(pixels * 4);
  for (let from = 0, to = 0; to < rgba.length; from += 3, to += 4) {
    rgba[to] = rgb[from] ?? 0;
    rgba[to + 1] = rgb[from + 1] ?? 0;
    rgba[to + 2] = rgb[from + 2] ?? 0;
    rgba[to + 3] = 255;
  }
  return rgba;
}

/** Grey as equal red, green and blue. */
export function greyToRgb(grey: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(grey.length * 3);
  for (let pixel = 0, to = 0; pixel < grey.length; pixel++) {
    const sample = grey[pixel] ?? 0;
    rgb[to++] = sample;
    rgb[to++] = sample;
    rgb[to++] = sample;
  }
  return rgb;
}
