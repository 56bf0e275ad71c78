/** The package sharp, an optional peer: what is used of it, and its import when a picture is first decoded. */
import { InferyardError } from "../../contract/errors.ts";

/** What the header of a picture says. */
export interface SharpMetadata {
  readonly width?: number;
  readonly height?: number;
  /** Interpretation of the samples by libvips: "srgb", "b-w", "grey16", "rgb16", "cmyk", ... */
  readonly space?: string;
}

/** A picture that is decoded when its pixels are asked for. */
export interface SharpPicture {
  metadata(): Promise<SharpMetadata>;
  /** Turns and mirrors the picture as its EXIF orientation says. */
  autoOrient(): SharpPicture;
  pipelineColourspace(space: string): SharpPicture;
  toColourspace(space: string): SharpPicture;
  raw(options: { depth: "uchar" }): SharpPicture;
  toBuffer(options: { resolveWithObject: true }): Promise<{
    readonly data: Uint8Array;
    readonly info: { readonly width: number; readonly height: number; readonly channels: number };
  }>;
}

/** The function that the package exports. */
export type Sharp = (
  bytes: Uint8Array,
  options: { readonly failOn: "error"; readonly ignoreIcc: boolean; readonly limitInputPixels: number },
) => SharpPicture;

/** The command that installs sharp. */
export const sharpInstall: string = "npm install sharp";

/** Imports sharp. Throws BACKEND_UNAVAILABLE if it is not installed or does not load. */
export async function importSharp(importer: () => Promise<unknown> = () => import("sharp")): Promise<Sharp> {
  try {
    const { default: sharp } = (await importer()) as { default: Sharp };
    return sharp;
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const message = isAbsent
      ? "pictures are decoded by the package sharp, which is not installed"
      : `the package sharp, which decodes pictures, could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    throw new InferyardError("BACKEND_UNAVAILABLE", message, { cause: error, remedy: sharpInstall });
  }
}
