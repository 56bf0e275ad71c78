/** The format of an encoded picture, from its first bytes. */
import { InferyardError } from "../../contract/errors.ts";

/** Formats that are decoded. */
export type PictureFormat = "png" | "jpeg" | "webp" | "gif" | "tiff" | "avif";

/** A format that is recognised and refused, and why. */
interface RefusedFormat {
  readonly name: string;
  readonly reason: string;
}

const supported = "allowed: PNG, JPEG, WebP, GIF, TIFF, AVIF";

/** Whether `bytes` has the characters of `text` from `offset`; `.` stands for any byte. */
function hasText(bytes: Uint8Array, text: string, offset = 0): boolean {
  if (bytes.length < offset + text.length) return false;
  for (let index = 0; index < text.length; index++)
    if (text[index] !== "." && bytes[offset + index] !== text.charCodeAt(index)) return false;
  return true;
}

/** The signatures of the formats that are decoded. AVIF is an ISO base media file (ISO/IEC 14496-12) whose brands name it. */
function supportedFormat(bytes: Uint8Array): PictureFormat | undefined {
  if (hasText(bytes, "\x89PNG\r\n\x1a\n")) return "png";
  if (hasText(bytes, "\xff\xd8\xff")) return "jpeg";
  if (hasText(bytes, "RIFF....WEBP")) return "webp";
  if (hasText(bytes, "GIF87a") || hasText(bytes, "GIF89a")) return "gif";
  if (["II*\0", "MM\0*", "II+\0", "MM\0+"].some((signature) => hasText(bytes, signature))) return "tiff";
  if (hasText(bytes, "....ftyp") && brands(bytes).some((brand) => brand === "avif" || brand === "avis")) return "avif";
  return undefined;
}

/** The major and compatible brands of an ISO base media file. */
function brands(bytes: Uint8Array): readonly string[] {
  const size = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0);
  const end = Math.min(size, bytes.length, 256);
  const names: string[] = [];
  for (let offset = 8; offset + 4 <= end; offset += 4) if (offset !== 12) names.push(text(bytes, offset, offset + 4));
  return names;
}

function text(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Formats that have a name and are not decoded. */
function refusedFormat(bytes: Uint8Array): RefusedFormat | undefined {
  const none = "there is no decoder for it";
  if (hasText(bytes, "....ftyp"))
    return { name: `an ISO media file of the brand ${JSON.stringify(text(bytes, 8, 12))}`, reason: none };
  if (hasText(bytes, "BM")) return { name: "BMP", reason: none };
  if (hasText(bytes, "8BPS")) return { name: "PSD", reason: none };
  if (hasText(bytes, "\xff\x0a") || hasText(bytes, "....JXL ")) return { name: "JPEG XL", reason: none };
  if (hasText(bytes, "....jP  ")) return { name: "JPEG 2000", reason: none };
  if (hasText(bytes, "%PDF-")) return { name: "PDF", reason: "it is a document; convert its pages to pictures" };
  if (isMarkup(bytes)) return { name: "SVG or another kind of XML", reason: "it can refer to files and addresses" };
  return undefined;
}

/** Whether the first character that is no white space or byte order mark is `<`, also in UTF-16 and in a gzip stream (SVGZ). */
function isMarkup(bytes: Uint8Array): boolean {
  if (hasText(bytes, "\x1f\x8b")) return true;
  for (const byte of bytes.subarray(0, 1024)) {
    if (byte === 0x3c) return true;
    if (![0, 9, 10, 13, 32, 0xef, 0xbb, 0xbf, 0xfe, 0xff].includes(byte)) return false;
  }
  return false;
}

/** Reads the format from the first bytes; a file's name and a media type are not believed. Throws MEDIA_TYPE_UNSUPPORTED for every other format. */
export function readPictureFormat(bytes: Uint8Array): PictureFormat {
  const format = supportedFormat(bytes);
  if (format !== undefined) return format;
  const refused = refusedFormat(bytes);
  const message =
    refused === undefined
      ? `the ${bytes.length} bytes are not a picture of a known format; ${supported}`
      : `the picture is ${refused.name}, which is not decoded: ${refused.reason}; ${supported}`;
  throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", message, {
    data: { formats: ["png", "jpeg", "webp", "gif", "tiff", "avif"] },
  });
}
