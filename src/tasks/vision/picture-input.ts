/** Pictures as callers give them. */
import { InferyardError } from "../../contract/errors.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { readBytes } from "../../platform/node/files.ts";
import type { Colour } from "../../processors/images/picture-colours.ts";
import { addAlpha, flattenAlpha, rgbToGrey } from "../../processors/images/picture-colours.ts";
import type { Picture } from "../../processors/images/picture.ts";

/** An encoded picture: its bytes, a blob, a data URL, or the path of a file; or a decoded one. Addresses are not fetched. */
export type PictureInput = string | Uint8Array | ArrayBuffer | Blob | Picture;

/** How the samples of a picture are wanted. */
export interface PictureSamples {
  readonly channels: Picture["channels"];
  /** Colour behind transparent pixels; "none" drops alpha. */
  readonly background?: Colour | "none" | undefined;
}

const dataUrl = /^data:[^,]*?(;base64)?,/u;

/** Reads and decodes a picture. `index` names it in errors. Throws INPUT_INVALID, LIMIT_EXCEEDED, MEDIA_TYPE_UNSUPPORTED. */
export async function readPicture(
  input: PictureInput,
  index: number,
  { channels, background }: PictureSamples,
): Promise<Picture> {
  if (isDecoded(input)) return toChannels(checkDecoded(input, index), channels, background ?? [255, 255, 255]);
  const bytes = await readEncoded(input, index);
  const { decodePicture, defaultPictureLimits } = await import("../../processors/images/decode-picture.ts");
  try {
    return await decodePicture(bytes, defaultPictureLimits, { channels, ...(background === undefined ? {} : { background }) });
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

async function readEncoded(input: Exclude<PictureInput, Picture>, index: number): Promise<Uint8Array> {
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  if (input instanceof Blob) return new Uint8Array(await input.arrayBuffer());
  if (typeof input !== "string")
    throw new InferyardError(
      "INPUT_INVALID",
      `picture ${index} is ${input === null ? "null" : typeof input}; allowed: bytes, a blob, a data URL, a path`,
    );
  const header = dataUrl.exec(input);
  if (header !== null) return readDataUrl(input, header, index);
  if (/^[a-z][a-z0-9+.-]+:\/\//iu.test(input))
    throw new InferyardError("INPUT_INVALID", `picture ${index} is an address, and addresses are not fetched`, {
      remedy: "fetch it, and give its bytes",
    });
  try {
    return await readBytes(input);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `picture ${index}: ${input} cannot be read`, {
      cause: error,
      remedy: "give the path of a file",
    });
  }
}

function readDataUrl(url: string, [header, base64]: RegExpExecArray, index: number): Uint8Array {
  const content = url.slice(header.length);
  if (base64 === undefined) return new TextEncoder().encode(decodeURIComponent(content));
  try {
    return decodeBase64(content);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `picture ${index}: the data URL has no valid base64`, { cause: error });
  }
}

function isDecoded(input: PictureInput): input is Picture {
  return typeof input === "object" && input !== null && "channels" in input && "data" in input;
}

function checkDecoded(picture: Picture, index: number): Picture {
  const { width, height, channels, data } = picture;
  const isValid =
    Number.isSafeInteger(width) &&
    width > 0 &&
    Number.isSafeInteger(height) &&
    height > 0 &&
    [1, 3, 4].includes(channels) &&
    data instanceof Uint8Array;
  if (isValid && data.length === width * height * channels) return picture;
  throw new InferyardError(
    "INPUT_INVALID",
    `picture ${index} is no decoded picture: data must have width x height x channels bytes, and 1, 3 or 4 channels`,
  );
}

function toChannels(picture: Picture, channels: Picture["channels"], background: Colour | "none"): Picture {
  if (picture.channels === channels) return picture;
  const { width, height, data } = picture;
  const rgb = picture.channels === 4 ? flattenAlpha(data, background) : picture.channels === 3 ? data : repeat(data);
  if (channels === 4) return { width, height, channels, data: addAlpha(rgb) };
  return { width, height, channels, data: channels === 1 ? rgbToGrey(rgb) : rgb };
}

/** Grey as red, green and blue. */
function repeat(grey: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: grey.length * 3 }, (_, index) => grey[Math.floor(index / 3)] ?? 0);
}
