/** Pictures that requests have as data URLs. The server fetches no address, and reads no file of its own for a client. */
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import { decodeBase64 } from "../../../platform/base64.ts";
import { bytesOfDataUrl } from "../../../processors/images/picture-source.ts";

const remedy = 'send "data:image/png;base64," and the bytes of the picture in base64';

/**
 * The bytes of a data URL. `path`: where the request has it, such as `input.0.image_url.url`. Throws INPUT_INVALID for another address, for a media type that
 * is no picture's and for what is not base64, and LIMIT_EXCEEDED for a picture that is too large.
 */
export function pictureOfUrl(url: string, path: string): Uint8Array {
  const where = { path: path.split(".") };
  if (!/^data:/i.test(url)) throw invalidInput(`${path} is no data URL, and addresses are not fetched`, remedy, where);
  const type = /^data:(?<type>[^;,]*)/i.exec(url.slice(0, 200))?.groups?.["type"]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== "application/octet-stream" && !type.startsWith("image/"))
    throw invalidInput(
      `${path} has the media type ${JSON.stringify(type.slice(0, 80))}, and must have one of pictures`,
      remedy,
      where,
    );
  try {
    return bytesOfDataUrl(url);
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    throw new InferyardError(error.code, `${path}: ${error.message}`, {
      cause: error,
      remedy: error.remedy ?? remedy,
      data: { ...error.data, ...where },
    });
  }
}

/** The bytes of a data URL, or of base64 alone, as Jina's and Ollama's clients send pictures. Throws as `pictureOfUrl` does. */
export function pictureOfText(text: string, path: string): Uint8Array {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text.slice(0, 100))) return pictureOfUrl(text, path);
  try {
    return decodeBase64(text);
  } catch {
    throw invalidInput(`${path} is neither a data URL nor base64`, remedy, { path: path.split(".") });
  }
}
