/** Encoded pictures (PNG, JPEG, WebP, GIF, TIFF, AVIF) to 8-bit samples in sRGB. */
import { InferyardError } from "../../contract/errors.ts";
import { addAlpha, cmykToRgb, type Colour, flattenAlpha, rgbToGrey } from "./picture-colours.ts";
import { readPictureFormat } from "./picture-format.ts";
import type { Picture } from "./picture.ts";
import { importSharp, type Sharp, type SharpMetadata } from "./sharp.ts";

/** What a picture may have at most. All are checked before pixels are decoded. */
export interface PictureLimits {
  /** Bytes of the encoded picture. */
  readonly maxBytes: number;
  /** Width times height. */
  readonly maxPixels: number;
  /** Pixels of the longer side. */
  readonly maxSide: number;
}

/** 64 MiB, 64 megapixels, 32,768 pixels wide or high. */
export const defaultPictureLimits: PictureLimits = { maxBytes: 64 * 1024 * 1024, maxPixels: 64_000_000, maxSide: 32_768 };

/** How the samples of a decoded picture are to be. */
export interface PictureDecodeOptions {
  /** 1: grey; 3: red, green, blue; 4: these with alpha. Default 3. */
  readonly channels?: Picture["channels"];
  /** Colour behind transparent pixels where 1 or 3 channels are wanted; "none" drops alpha, as Pillow's `convert("RGB")` does. Default white. */
  readonly background?: Colour | "none";
  /** false: the picture is left as it is encoded, whatever its EXIF orientation. Default true. */
  readonly orient?: boolean;
  /** Called with width times height before pixels are decoded, which wait until it settles. An error of it is thrown on. */
  readonly reserve?: (pixels: number) => Promise<void>;
  /** Imports sharp; tests replace it. */
  readonly importer?: () => Promise<unknown>;
}

const white: Colour = [255, 255, 255];

/**
 * Decodes a picture; of an animation or a file of pages, the first. 16-bit samples keep their upper 8 bits, palettes become colours, CMYK is converted without a
 * colour profile, and embedded profiles are ignored, as Pillow does. Throws MEDIA_TYPE_UNSUPPORTED for other formats (SVG among them: it can refer to files),
 * LIMIT_EXCEEDED beyond `limits`, INPUT_INVALID for damaged pictures, and BACKEND_UNAVAILABLE where sharp is not installed.
 */
export async function decodePicture(
  bytes: Uint8Array,
  limits: PictureLimits = defaultPictureLimits,
  { channels = 3, background = white, orient = true, reserve, importer }: PictureDecodeOptions = {},
): Promise<Picture> {
  if (bytes.length === 0) throw new InferyardError("INPUT_INVALID", "the picture has 0 bytes");
  checkLimit("bytes", bytes.length, limits.maxBytes);
  const format = readPictureFormat(bytes);
  const sharp = await importSharp(importer);
  try {
    const { width, height, isCmyk } = checkHeader(await open(sharp, bytes, Number.MAX_SAFE_INTEGER).metadata(), limits);
    await reserve?.(width * height);
    const picture = open(sharp, bytes, limits.maxPixels);
    if (orient) picture.autoOrient();
    if (isCmyk) picture.pipelineColourspace("cmyk");
    const decoded = await picture
      .toColourspace(isCmyk ? "cmyk" : "srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    if (decoded.info.width * decoded.info.height !== width * height)
      throw new InferyardError("INPUT_INVALID", `the picture's header says ${width} x ${height} pixels, which it does not have`);
    const { data } = decoded;
    const samples = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return {
      ...toChannels(samples, decoded.info, { channels, background, isCmyk }),
      width: decoded.info.width,
      height: decoded.info.height,
    };
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.split("\n")[0] ?? "";
    throw new InferyardError(
      "INPUT_INVALID",
      `the picture, by its first bytes ${format.toUpperCase()}, could not be decoded: ${reason}`,
      { cause: error },
    );
  }
}

function open(sharp: Sharp, bytes: Uint8Array, limitInputPixels: number): ReturnType<Sharp> {
  return sharp(bytes, { failOn: "error", ignoreIcc: true, limitInputPixels });
}

function checkHeader(
  { width = 0, height = 0, space }: SharpMetadata,
  limits: PictureLimits,
): { width: number; height: number; isCmyk: boolean } {
  if (width === 0 || height === 0) throw new InferyardError("INPUT_INVALID", `the picture has ${width} x ${height} pixels`);
  checkLimit("pixels on its longer side", Math.max(width, height), limits.maxSide);
  checkLimit("pixels", width * height, limits.maxPixels);
  return { width, height, isCmyk: space === "cmyk" };
}

function checkLimit(what: string, value: number, limit: number): void {
  if (value > limit)
    throw new InferyardError("LIMIT_EXCEEDED", `the picture has ${value} ${what}; the limit is ${limit}`, {
      data: { value, limit },
    });
}

/** Samples as decoded (RGB, RGBA or CMYK) to the channels that are wanted. */
function toChannels(
  samples: Uint8Array,
  { channels: decoded }: { readonly channels: number },
  { channels, background, isCmyk }: { channels: Picture["channels"]; background: Colour | "none"; isCmyk: boolean },
): Pick<Picture, "channels" | "data"> {
  if (decoded !== 3 && decoded !== 4)
    throw new InferyardError("INPUT_INVALID", `the picture has ${decoded} channels; allowed: 1 to 4`);
  const hasAlpha = decoded === 4 && !isCmyk;
  if (channels === 4 && hasAlpha) return { channels, data: samples };
  const rgb = isCmyk ? cmykToRgb(samples) : hasAlpha ? flattenAlpha(samples, background) : samples;
  if (channels === 4) return { channels, data: addAlpha(rgb) };
  return channels === 1 ? { channels, data: rgbToGrey(rgb) } : { channels, data: rgb };
}
