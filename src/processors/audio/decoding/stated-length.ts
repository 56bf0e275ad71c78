/** How long the headers of a sound file say that it is, so that limits and truncation are seen. */

import { requireSoundFormat, soundError } from "../sound.ts";
import { hasBytes, skipId3, type SoundFormat } from "./sound-format.ts";

/** What the headers of a file state. */
export interface StatedLength {
  /** Sample frames. */
  readonly frames: number;
  /** Hz; frames of Ogg Opus are counted at 48 kHz whatever the input was. */
  readonly sampleRate: number;
  /** Frames that may be missing at the end, since encoders and decoders count their delay differently. */
  readonly tolerance: number;
}

/** STREAMINFO, the first metadata block of FLAC (RFC 9639, 8.2): 20 bits of sample rate and 36 bits of samples; 0 samples are unknown. */
function readFlac(bytes: Uint8Array, start: number): StatedLength | undefined {
  if (bytes.length < start + 42) throw soundError("the FLAC file is truncated: it ends within its header");
  const view = new DataView(bytes.buffer, bytes.byteOffset + start + 8 + 10, 8);
  const high = view.getUint32(0);
  const frames = (high & 0xf) * 2 ** 32 + view.getUint32(4);
  const sampleRate = high >>> 12;
  if (sampleRate === 0) throw soundError("the FLAC file states a sample rate of 0 Hz");
  return frames === 0 ? undefined : { frames, sampleRate, tolerance: 0 };
}

/** Samples of a frame and sample rates of MPEG audio by version bits (0: 2.5, 2: 2, 3: 1). */
const mpegRates: Readonly<Record<number, readonly number[]>> = {
  0: [11_025, 12_000, 8000],
  2: [22_050, 24_000, 16_000],
  3: [44_100, 48_000, 32_000],
};

/** The number of frames in the header `Xing` or `Info` that encoders write into the first frame of layer III. Absent: undefined. */
function readMpeg(bytes: Uint8Array, start: number): StatedLength | undefined {
  const [, second = 0, third = 0, fourth = 0] = bytes.subarray(start, start + 4);
  const version = (second >> 3) & 3;
  const sampleRate = mpegRates[version]?.[(third >> 2) & 3];
  if (bytes[start] !== 0xff || ((second >> 1) & 3) !== 1 || sampleRate === undefined) return undefined;
  const mono = fourth >> 6 === 3;
  const sideInformation = version === 3 ? (mono ? 17 : 32) : mono ? 9 : 17;
  const header = start + 4 + sideInformation;
  if (!hasBytes(bytes, header, "Xing") && !hasBytes(bytes, header, "Info")) return undefined;
  if (header + 12 > bytes.length || !((bytes[header + 7] ?? 0) & 1)) return undefined;
  const perFrame = version === 3 ? 1152 : 576;
  const frames = new DataView(bytes.buffer, bytes.byteOffset + header + 8, 4).getUint32(0);
  // A decoder drops the delay and the padding of the encoder, up to 4,095 samples each.
  return { frames: frames * perFrame, sampleRate, tolerance: 2 * 4096 + 2 * perFrame };
}

/** The position of the last page of an Ogg file (RFC 3533). Throws INPUT_INVALID if no page ends the stream at the end of the file. */
function readOgg(bytes: Uint8Array, { name, decoder }: SoundFormat): StatedLength | undefined {
  const packet = 27 + (bytes[26] ?? 0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sampleRate = 48_000;
  if (decoder === "vorbis") sampleRate = packet + 16 <= bytes.length ? view.getUint32(packet + 12, true) : 0;
  if (decoder === "flac") return undefined;
  // Channels are checked here: a page of Vorbis has up to a million samples of each before the first is seen.
  const channels = bytes[packet + (decoder === "vorbis" ? 11 : 9)] ?? 0;
  requireSoundFormat(name, sampleRate, channels);
  const maxPage = 27 + 255 + 255 * 255;
  for (let at = bytes.length - 27; at >= Math.max(0, bytes.length - maxPage); at--) {
    if (!hasBytes(bytes, at, "OggS\0")) continue;
    const segments = bytes[at + 26] ?? 0;
    const body = bytes.subarray(at + 27, at + 27 + segments).reduce((sum, size) => sum + size, 0);
    const isLast = ((bytes[at + 5] ?? 0) & 4) !== 0;
    if (!isLast || at + 27 + segments + body > bytes.length)
      throw soundError(`the ${name} file is truncated: its last page does not end the stream`);
    // The first samples of Opus are dropped: the field pre-skip (RFC 7845, 5.1).
    const skipped = decoder === "opus" && packet + 12 <= bytes.length ? view.getUint16(packet + 10, true) : 0;
    const frames = Number(view.getBigInt64(at + 6, true)) - skipped;
    return frames > 0 && sampleRate > 0 ? { frames, sampleRate, tolerance: sampleRate } : undefined;
  }
  throw soundError(`the ${name} file is truncated: it has no whole page at its end`);
}

/** The length that the headers of a compressed file state; undefined where they state none. Throws INPUT_INVALID where they show that the file is truncated. */
export function readStatedLength(bytes: Uint8Array, format: SoundFormat): StatedLength | undefined {
  if (hasBytes(bytes, 0, "OggS")) return readOgg(bytes, format);
  const start = skipId3(bytes);
  if (format.decoder === "flac") return readFlac(bytes, start);
  return format.decoder === "mpeg" ? readMpeg(bytes, start) : undefined;
}
