/** Pictures are decoded by the browser itself in a page. Replaces src/processors/images/sharp.ts, whose interface it has. */
import { InferyardError } from "../../contract/errors.ts";
import { readEncodedSize } from "../../processors/images/picture-size.ts";
import type { Sharp, SharpPicture } from "../../processors/images/sharp.ts";

/** A decoded picture of the browser. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  close(): void;
}

/** What is used of the browser, in a page and in a worker. */
interface BrowserPictures {
  readonly createImageBitmap: (
    picture: Blob,
    options: {
      readonly imageOrientation: "from-image" | "none";
      readonly premultiplyAlpha: "none";
      readonly colorSpaceConversion: "none";
    },
  ) => Promise<Bitmap>;
  readonly OffscreenCanvas: new (
    width: number,
    height: number,
  ) => {
    getContext(kind: "2d"): {
      drawImage(bitmap: Bitmap, left: number, top: number): void;
      getImageData(left: number, top: number, width: number, height: number): { readonly data: Uint8ClampedArray<ArrayBuffer> };
    } | null;
  };
}

/** Shown as the remedy where a browser does not decode pictures. */
export const sharpInstall: string = "give { width, height, channels, data }";

/** The browser's own decoder. Throws BACKEND_UNAVAILABLE in a browser without one. */
export async function importSharp(): Promise<Sharp> {
  const { createImageBitmap, OffscreenCanvas } = globalThis as Partial<BrowserPictures>;
  if (createImageBitmap === undefined || OffscreenCanvas === undefined)
    throw new InferyardError("BACKEND_UNAVAILABLE", "this browser does not decode pictures outside of a document", {
      remedy: sharpInstall,
    });
  const browser: BrowserPictures = { createImageBitmap: (...given) => createImageBitmap(...given), OffscreenCanvas };
  return (bytes) => new PagePicture(browser, bytes);
}

/** A picture whose samples are red, green, blue and alpha. It is decoded once, for its samples: the size is read from its header. */
class PagePicture implements SharpPicture {
  readonly #browser: BrowserPictures;
  readonly #bytes: Uint8Array;
  #orientation: "from-image" | "none" = "none";

  constructor(browser: BrowserPictures, bytes: Uint8Array) {
    this.#browser = browser;
    this.#bytes = bytes;
  }

  async metadata(): Promise<{ width: number; height: number; space: string }> {
    const size = readEncodedSize(this.#bytes);
    if (size === undefined) throw new Error("its header states no size that this browser's decoder could be held to");
    return { ...size, space: "srgb" };
  }

  autoOrient(): this {
    this.#orientation = "from-image";
    return this;
  }

  pipelineColourspace(): this {
    return this;
  }

  toColourspace(): this {
    return this;
  }

  raw(): this {
    return this;
  }

  async toBuffer(): ReturnType<SharpPicture["toBuffer"]> {
    const bitmap = await this.#decode();
    const { width, height } = bitmap;
    const context = new this.#browser.OffscreenCanvas(width, height).getContext("2d");
    if (context === null) throw new Error("the browser has no memory for its pixels");
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data } = context.getImageData(0, 0, width, height);
    return { data: new Uint8Array(data.buffer), info: { width, height, channels: 4 } };
  }

  #decode(): Promise<Bitmap> {
    const imageOrientation = this.#orientation;
    return this.#browser.createImageBitmap(new Blob([new Uint8Array(this.#bytes)]), {
      imageOrientation,
      premultiplyAlpha: "none",
      colorSpaceConversion: "none",
    });
  }
}
