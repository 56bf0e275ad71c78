/** Pictures of a call as samples with the channels that a model takes. */
import { InferyardError } from "../../contract/errors.ts";
import { defaultPictureLimits } from "../../processors/images/decode-picture.ts";
import { type Colour, flattenAlpha, greyToRgb, rgbToGrey } from "../../processors/images/picture-colours.ts";
import { type PictureSource, readPicture } from "../../processors/images/picture-source.ts";
import type { Picture } from "../../processors/images/picture.ts";

/** How the samples of a picture are wanted. */
export interface PictureSamples {
  readonly channels: 1 | 3;
  /** Colour behind transparent pixels; "none" drops alpha. */
  readonly background: Colour | "none";
}

/** Reads and decodes a picture. Errors name it by `index`. Throws what `readPicture` throws. */
export async function readSamples(
  source: PictureSource,
  index: number,
  { channels, background }: PictureSamples,
): Promise<Picture> {
  try {
    const picture = await readPicture(source, defaultPictureLimits, { channels, background });
    return toChannels(picture, channels, background);
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    const { code, data, remedy } = error;
    throw new InferyardError(code, `picture ${index}: ${error.message}`, {
      cause: error,
      data: { ...data, picture: index },
      remedy,
    });
  }
}

/** Decoded samples that the caller gave may have other channels. */
function toChannels(picture: Picture, channels: 1 | 3, background: Colour | "none"): Picture {
  if (picture.channels === channels) return picture;
  const { width, height, data } = picture;
  const rgb = picture.channels === 4 ? flattenAlpha(data, background) : picture.channels === 3 ? data : greyToRgb(data);
  return { width, height, channels, data: channels === 1 ? rgbToGrey(rgb) : rgb };
}
