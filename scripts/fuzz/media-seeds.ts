/** Small pictures and sounds of every format, from the goldens beside their decoders, and formats that are refused. */
import { readFileSync } from "node:fs";

/** The fields in base64 of golden cases. */
interface FileCase {
  readonly file?: string;
  readonly bytes?: string;
}

const folder = new URL("../../src/processors/", import.meta.url);

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

const decode = ({ file, bytes }: FileCase): Uint8Array => Buffer.from(file ?? bytes ?? "", "base64");

/** Pictures of some pixels: PNG, JPEG, WebP, GIF, TIFF and AVIF with palettes, 16 bits, alpha, CMYK and orientations; an SVG and a BMP. */
export function pictureSeeds(): Uint8Array[] {
  const refused = ['<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/hostname"/></svg>', "BM000000"];
  return [...(readJson("images/decode-goldens.json") as FileCase[]).map(decode), ...refused.map((text) => Buffer.from(text))];
}

/** Sounds of an eighth of a second: WAVE of every encoding, MP3, FLAC, Ogg Vorbis and Opus; M4A, AAC, WebM and AIFF. */
export function soundSeeds(): Uint8Array[] {
  const { cases, unread } = readJson("audio/decode-sound.goldens.json") as {
    readonly cases: readonly FileCase[];
    readonly unread: Readonly<Record<string, string>>;
  };
  const waves = readJson("audio/wav.goldens.json") as FileCase[];
  return [...cases, ...waves, ...Object.values(unread).map((file) => ({ file }))].map(decode);
}
