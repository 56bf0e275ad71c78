/** Pictures as callers give them: bytes of a file, a data URL, the path of a file, a Blob, or decoded samples. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { decodeBase64 } from "../../platform/base64.ts";
import { fileStatus, readBytes } from "../../platform/node/files.ts";
import { type PictureDecodeOptions, type PictureLimits, decodePicture, defaultPictureLimits } from "./decode-picture.ts";
import type { Picture } from "./picture.ts";

/** A picture: the bytes of a PNG, JPEG, WebP, GIF, TIFF or AVIF file, such a file as Blob, `data:` URL or path, or decoded samples. */
export type PictureSource = string | Uint8Array | ArrayBuffer | Blob | Picture;

/**
 * The samples of a picture, decoded if necessary. A text that begins with `data:` is a data URL in base64, any other one the path of a file. Throws INPUT_INVALID for a
 * value that is no picture, for a file that cannot be read and for an address on the web, which is not fetched, and what `decodePicture` throws.
 */
export async function readPicture(
  source: PictureSource,
  limits: PictureLimits = defaultPictureLimits,
  options: PictureDecodeOptions = {},
): Promise<Picture> {
  if (isPicture(source)) return source;
  return decodePicture(await readSource(source, limits), limits, options);
}

async function readSource(source: Exclude<PictureSource, Picture>, limits: PictureLimits): Promise<Uint8Array> {
  if (typeof source === "string") return source.startsWith("data:") ? bytesOfDataUrl(source, limits) : readFile(source, limits);
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (source instanceof Blob) {
    checkBytes(source.size, limits);
    return new Uint8Array(await source.arrayBuffer());
  }
  throw new InferyardError("INPUT_INVALID", `the picture is ${source === null ? "null" : typeof source}`, {
    remedy: "give the bytes of a picture, its path, a data URL, a Blob, or { width, height, channels, data }",
  });
}

/** The bytes in a data URL in base64. Throws INPUT_INVALID for another URL, and LIMIT_EXCEEDED for more than `limits.maxBytes` bytes. */
export function bytesOfDataUrl(url: string, limits: PictureLimits = defaultPictureLimits): Uint8Array {
  const comma = url.indexOf(",");
  const head = url.slice(0, comma);
  if (comma < 0 || !/^data:[^,]*;base64$/i.test(head))
    throw new InferyardError("INPUT_INVALID", `the picture's data URL begins with "${url.slice(0, 40)}"`, {
      remedy: 'write "data:image/png;base64," and the bytes in base64',
    });
  checkBytes(Math.floor(((url.length - comma - 1) * 3) / 4) - 2, limits);
  try {
    return decodeBase64(url.slice(comma + 1));
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", "the picture's data URL is not base64", { cause: error });
  }
}

async function readFile(path: string, limits: PictureLimits): Promise<Uint8Array> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new InferyardError("INPUT_INVALID", `the picture is the address ${path.slice(0, 80)}, and addresses are not fetched`, {
      remedy: "fetch it, and give its bytes",
    });
  try {
    const status = await fileStatus(path);
    if (!status.isFile()) throw new Error("it is not a file");
    checkBytes(status.size, limits);
    return await readBytes(path);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError(
      "INPUT_INVALID",
      `the picture ${path.slice(0, 200)} cannot be read: ${getMessage(error).slice(0, 200)}`,
      {
        cause: error,
      },
    );
  }
}

function checkBytes(bytes: number, { maxBytes }: PictureLimits): void {
  if (bytes > maxBytes)
    throw new InferyardError("LIMIT_EXCEEDED", `the picture has ${bytes} bytes; the limit is ${maxBytes}`, {
      data: { value: bytes, limit: maxBytes },
    });
}

/** Whether a value has the members of a decoded picture. Throws INPUT_INVALID if they contradict each other. */
function isPicture(source: PictureSource): source is Picture {
  if (typeof source !== "object" || source === null || !("channels" in source)) return false;
  const { width, height, channels, data } = source;
  const isWhole = [width, height].every((side) => Number.isSafeInteger(side) && side > 0) && [1, 3, 4].includes(channels);
  if (isWhole && data instanceof Uint8Array && data.length === width * height * channels) return true;
  throw new InferyardError(
    "INPUT_INVALID",
    `the picture has ${data?.length} samples, and ${width} x ${height} pixels of ${channels} channels`,
    { remedy: "give width x height x channels bytes, and 1, 3 or 4 channels" },
  );
}
