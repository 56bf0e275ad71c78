/** Options of embeddings of texts and pictures in one space. */
import type { OptionTable } from "../../runtime/options/option.ts";
import { embedOptions } from "../embedding/embed-options.ts";
import { type VisionOptions, visionOptions } from "./vision-options.ts";

/** Options of `Runtime.embed` for pictures, and for texts on a model that compares texts with pictures. */
export interface EmbedMediaOptions extends VisionOptions {
  /** Scale vectors to unit length (L2 norm 1). Default: true. */
  readonly normalize?: boolean;
  /** Keep only the first n dimensions, before vectors are scaled. Default: all. */
  readonly dimensions?: number;
}

/** All options. Any other name is refused. */
export const embedMediaOptions: OptionTable<EmbedMediaOptions> = {
  normalize: embedOptions.normalize,
  dimensions: embedOptions.dimensions,
  ...visionOptions,
};
