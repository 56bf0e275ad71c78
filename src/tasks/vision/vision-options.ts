/** Options that all tasks on pictures share. */
import { type OptionTable, choice, positiveInteger, unchecked } from "../../runtime/options/option.ts";
import type { Colour } from "../../processors/images/picture-colours.ts";
import { InferyardError } from "../../contract/errors.ts";

/** Options that all tasks on pictures share. */
export interface VisionOptions {
  /** Maximum number of pictures in one batch. Default: 8; 1 where the model takes no more. */
  readonly batchSize?: number;
  /** What is behind transparent pixels: "white", "black", or "none", which drops alpha as `convert("RGB")` of Pillow does. Default: "white". */
  readonly background?: "white" | "black" | "none";
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}

const backgrounds: Readonly<Record<NonNullable<VisionOptions["background"]>, Colour | "none">> = {
  white: [255, 255, 255],
  black: [0, 0, 0],
  none: "none",
};

/** Everything about the options in `VisionOptions`. */
export const visionOptions: OptionTable<VisionOptions> = {
  batchSize: { type: positiveInteger, flag: ["--batch-size <number>", "pictures in one batch"] },
  background: {
    type: choice(Object.keys(backgrounds)),
    flag: ["--background <colour>", "what is behind transparent pixels: white, black, none"],
    field: "What is behind transparent pixels: white, black, none. Default: white",
  },
  signal: { type: unchecked },
};

/** The colour behind transparent pixels. */
export function backgroundColour({ background = "white" }: VisionOptions): Colour | "none" {
  return backgrounds[background];
}

/** Throws INPUT_INVALID for a list without pictures. */
export function requirePictures(pictures: readonly unknown[]): void {
  if (pictures.length === 0) throw new InferyardError("INPUT_INVALID", "there is no picture", { remedy: "give at least one" });
}
