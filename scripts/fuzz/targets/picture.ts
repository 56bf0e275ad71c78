/** Pictures: decoded within limits; what is accepted has as many samples as its size says. */
import { decodePicture } from "../../../src/processors/images/decode-picture.ts";
import { pictureSeeds } from "../media-seeds.ts";
import { createMediaMutator } from "../mutations/mutate-media.ts";
import { type FuzzTarget, mustHold } from "../target.ts";

const limits = { maxBytes: 65_536, maxPixels: 1_000_000, maxSide: 4096 };

export const picture: FuzzTarget = {
  codes: ["INPUT_INVALID", "LIMIT_EXCEEDED", "MEDIA_TYPE_UNSUPPORTED"],
  seeds: pictureSeeds,
  mutate: createMediaMutator(pictureSeeds()),
  dictionary: [
    "IHDR",
    "PLTE",
    "tRNS",
    "acTL",
    "fcTL",
    "eXIf",
    "iCCP",
    "IDAT",
    "IEND",
    "VP8 ",
    "VP8L",
    "VP8X",
    "ANIM",
    "ANMF",
    "ALPH",
    "Exif",
  ],
  open: async () => ({
    async run(input) {
      for (const channels of [1, 3, 4] as const) {
        const { width, height, data, ...decoded } = await decodePicture(input, limits, { channels });
        mustHold(decoded.channels === channels, () => `${decoded.channels} channels, and ${channels} were asked for`);
        mustHold(width * height <= limits.maxPixels, () => `${width} x ${height} pixels are beyond the limit`);
        mustHold(
          data.length === width * height * channels,
          () => `${data.length} samples for ${width} x ${height} x ${channels}`,
        );
      }
    },
  }),
};
