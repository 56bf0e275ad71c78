/** Pictures of a call as samples with the channels that a model takes, within the memory that decoded pictures share. */
import type { ByteBudget, ReleaseBytes } from "../../concurrency/byte-budget.ts";
import { InferyardError } from "../../contract/errors.ts";
import { defaultPictureLimits } from "../../processors/images/decode-picture.ts";
import { type Colour, flattenAlpha, greyToRgb, rgbToGrey } from "../../processors/images/picture-colours.ts";
import { type PictureSource, readPicture } from "../../processors/images/picture-source.ts";
import type { Picture } from "../../processors/images/picture.ts";

/** How a picture is decoded. */
export interface PictureSamples {
  readonly channels: 1 | 3;
  /** Colour behind transparent pixels; "none" drops alpha. */
  readonly background: Colour | "none";
  /** Memory of decoded pictures. */
  readonly budget: ByteBudget;
  readonly signal: AbortSignal | undefined;
}

/**
 * Bytes that are counted for each pixel while a picture is decoded and used: four channels as the decoder gives them, and four as a model takes them. A JPEG of 64
 * megapixels was measured to take 6.2 bytes a pixel.
 */
const bytesPerPixel = 8;

/**
 * Decodes a picture, hands it to `use`, and frees its part of the budget when `use` has settled. Samples that the caller has decoded are not counted. Errors name the
 * picture by `index`. Throws LIMIT_EXCEEDED for a picture that exceeds the whole budget, and what `readPicture` throws.
 */
export async function withSamples<Result>(
  source: PictureSource,
  index: number,
  { channels, background, budget, signal }: PictureSamples,
  use: (picture: Picture) => Result,
): Promise<Result> {
  return withDecoded(
    source,
    { channels, background, budget, signal, name: `picture ${index}`, data: { picture: index } },
    (picture) => use(toChannels(picture, channels, background)),
  );
}

/** How a picture is decoded, and what errors call it. */
interface DecodeRequest extends Pick<PictureSamples, "budget" | "signal"> {
  readonly channels: Picture["channels"];
  readonly background?: Colour | "none";
  readonly name?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** As `withSamples`, for samples as they come from the decoder. */
export async function withDecoded<Result>(
  source: PictureSource,
  { channels, background, budget, signal, name, data }: DecodeRequest,
  use: (picture: Picture) => Result,
): Promise<Awaited<Result>> {
  let release: ReleaseBytes = () => {};
  const reserve = async (pixels: number): Promise<void> => {
    const bytes = pixels * bytesPerPixel;
    if (bytes > budget.limit)
      throw new InferyardError(
        "LIMIT_EXCEEDED",
        `the picture has ${pixels} pixels, which take ${bytes} bytes; the limit of all decoded pictures is ${budget.limit}`,
        { remedy: "make the picture smaller, or raise maxPictureMemory", data: { value: bytes, limit: budget.limit } },
      );
    release = await budget.reserve(bytes, signal);
  };
  try {
    const options = { channels, ...(background === undefined ? {} : { background }), reserve };
    return await use(await named(() => readPicture(source, defaultPictureLimits, options), name, data));
  } finally {
    release();
  }
}

/** Runs work whose errors name the picture. */
async function named<Result>(
  work: () => Promise<Result>,
  name: string | undefined,
  extra: DecodeRequest["data"],
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InferyardError) || error.code === "ABORTED" || name === undefined) throw error;
    const { code, data, remedy } = error;
    throw new InferyardError(code, `${name}: ${error.message}`, { cause: error, data: { ...data, ...extra }, remedy });
  }
}

/** Decoded samples that the caller gave may have other channels. */
function toChannels(picture: Picture, channels: 1 | 3, background: Colour | "none"): Picture {
  if (picture.channels === channels) return picture;
  const { width, height, data } = picture;
  const rgb = picture.channels === 4 ? flattenAlpha(data, background) : picture.channels === 3 ? data : greyToRgb(data);
  return { width, height, channels, data: channels === 1 ? rgbToGrey(rgb) : rgb };
}
