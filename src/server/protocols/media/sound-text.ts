/** Sounds that requests have as text. */
import { invalidInput } from "../../../contract/errors.ts";
import { decodeBase64 } from "../../../platform/base64.ts";

const remedy = "send the sound in base64, or as a data URL in base64";

/**
 * The bytes of base64, or of a data URL in base64. `path`: where the request has the text. Throws INPUT_INVALID for an address, which is not fetched, for a media
 * type that is no sound's, and for what is not base64.
 */
export function soundOfText(text: string, path: string): Uint8Array {
  const where = { path: path.split(".") };
  const head = /^data:(?<type>[^;,]*)[^,]*;base64,/i.exec(text.slice(0, 200));
  const type = head?.groups?.["type"]?.trim().toLowerCase() ?? "";
  // Browsers record sound in files of video/webm, and MP4 files of sound alone are often called video/mp4.
  if (type !== "" && type !== "application/octet-stream" && type !== "application/ogg" && !/^(?:audio|video)\//.test(type))
    throw invalidInput(
      `${path} has the media type ${JSON.stringify(type.slice(0, 80))}, and must have one of sounds`,
      remedy,
      where,
    );
  const encoded = head === null ? text : text.slice(head[0].length);
  if (/^[a-z][a-z0-9+.-]*:/i.test(encoded.slice(0, 100)))
    throw invalidInput(`${path} is an address, and addresses are not fetched`, remedy, where);
  try {
    return decodeBase64(encoded);
  } catch {
    throw invalidInput(`${path} is not base64`, remedy, where);
  }
}
