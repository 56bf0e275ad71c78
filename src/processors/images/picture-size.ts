/** The size of an encoded picture from its header, where nothing else tells it before pixels are decoded. */

/** Width and height in pixels, as encoded: an EXIF orientation may swap them. */
export interface EncodedSize {
  readonly width: number;
  readonly height: number;
}

/** Reads the size of a PNG, JPEG, GIF, WebP or AVIF file. Undefined for other files and for headers that end early. */
export function readEncodedSize(bytes: Uint8Array): EncodedSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (from: number, length: number): string => String.fromCharCode(...bytes.subarray(from, from + length));
  try {
    if (text(1, 3) === "PNG") return { width: view.getUint32(16), height: view.getUint32(20) };
    if (text(0, 3) === "GIF") return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (view.getUint16(0) === 0xffd8) return jpegSize(view);
    if (text(8, 4) === "WEBP") return webpSize(view, text(12, 4));
    if (text(4, 4) === "ftyp") return avifSize(view, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the header ends early
  }
  return undefined;
}

/** The first start-of-frame segment (ITU-T T.81, B.2.2): markers C0 to CF without C4, C8 and CC. */
function jpegSize(view: DataView): EncodedSize | undefined {
  for (let at = 2; ;) {
    const marker = view.getUint16(at);
    if (marker === 0xffff) at += 1; // fill bytes
    else if (marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    else if (marker < 0xff01 || marker === 0xffda) return undefined;
    else at += 2 + view.getUint16(at + 2);
  }
}

/** The three kinds of first chunks (RFC 9649): lossy, lossless and extended. */
function webpSize(view: DataView, chunk: string): EncodedSize | undefined {
  if (chunk === "VP8 ") return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (chunk === "VP8L") {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  const sideAt = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536 + 1;
  return chunk === "VP8X" ? { width: sideAt(24), height: sideAt(27) } : undefined;
}

/** Bytes in which the properties of an AVIF file are looked for; its pixels follow them. */
const propertyBytes = 4096;

/** The largest of the spatial extents (ISO/IEC 23008-12, `ispe`): a file may have a thumbnail and tiles beside its picture. */
function avifSize(view: DataView, text: (from: number, length: number) => string): EncodedSize | undefined {
  let largest: EncodedSize | undefined;
  for (let at = 4; at + 16 <= Math.min(view.byteLength, propertyBytes); at++) {
    if (text(at, 4) !== "ispe") continue;
    const size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) };
    if (largest === undefined || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}
