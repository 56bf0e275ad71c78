/** What is done to a picture before a model sees it, in one form for every configuration. `readImageSettings` makes it from preprocessor_config.json. */
import type { PictureSize, ResizeReference } from "./resize-picture.ts";
import type { LetterboxRule } from "./letterbox.ts";
import type { SettingsFilter } from "./resampling-filters.ts";
import type { SizeRule } from "./target-size.ts";
import type { PixelScaling } from "./pixel-values.ts";

/** The steps in their order. An absent step is not done. */
export interface ImageSettings extends PixelScaling {
  /** Turn by 90 degrees clockwise where the longer side of the picture and of this size differ. */
  readonly alignLongAxis?: PictureSize | undefined;
  readonly resize?: { readonly rule: SizeRule; readonly filter: SettingsFilter } | undefined;
  /** In the place of `resize`: the whole picture in a frame of a fixed size. */
  readonly letterbox?: LetterboxRule | undefined;
  /** Shrink until the picture fits into this size, by Donut's rule. */
  readonly thumbnail?: (PictureSize & { readonly filter: SettingsFilter }) | undefined;
  /** Black borders around the picture up to this size. */
  readonly padCentre?: PictureSize | undefined;
  /** The middle of the picture. */
  readonly cropCentre?: PictureSize | undefined;
  /** Blue, green, red instead of red, green, blue. */
  readonly reverseChannels: boolean;
  /** Zeros right of and below the pixel values: up to this size, or up to the largest picture of the batch. */
  readonly padEnd?: PictureSize | "batch" | undefined;
  /** Samples of a pixel. */
  readonly channels: 1 | 3;
  /** Axes of the tensor of a batch. Default "channels-first": `[pictures, channels, height, width]`. */
  readonly layout?: "channels-first" | "channels-last" | undefined;
  /** Whose roundings are followed. */
  readonly reference: ResizeReference;
}
