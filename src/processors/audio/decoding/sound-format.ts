/** Formats of sound files, told by their first bytes. Names and types that somebody states are not trusted. */

/** What decodes a format: code of ours, a WebAssembly decoder, or FFmpeg through node-av. */
export type SoundDecoder = "wave" | "mpeg" | "flac" | "vorbis" | "opus" | "ffmpeg";

export interface SoundFormat {
  /** For people: "MP3", "M4A". */
  readonly name: string;
  readonly decoder: SoundDecoder;
  /** FFmpeg's name of the container, so that it tries no other. */
  readonly demuxer?: string;
}

/** Bytes that begin a file of a format that FFmpeg alone decodes. */
const others: readonly (readonly [offset: number, bytes: string, format: SoundFormat])[] = [
  [4, "ftyp", { name: "M4A (MPEG-4)", decoder: "ffmpeg", demuxer: "mov" }],
  [0, "\x1aE\xdf\xa3", { name: "WebM or Matroska", decoder: "ffmpeg", demuxer: "matroska" }],
  [0, "FORM", { name: "AIFF", decoder: "ffmpeg", demuxer: "aiff" }],
  [0, "caff", { name: "Core Audio (CAF)", decoder: "ffmpeg", demuxer: "caf" }],
  [0, "#!AMR", { name: "AMR", decoder: "ffmpeg", demuxer: "amr" }],
  [0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", { name: "Windows Media Audio", decoder: "ffmpeg", demuxer: "asf" }],
  [0, "wvpk", { name: "WavPack", decoder: "ffmpeg", demuxer: "wv" }],
  [0, ".snd", { name: "AU", decoder: "ffmpeg", demuxer: "au" }],
];

const mp3: SoundFormat = { name: "MP3", decoder: "mpeg" };
const flac: SoundFormat = { name: "FLAC", decoder: "flac" };
const aac: SoundFormat = { name: "AAC", decoder: "ffmpeg", demuxer: "aac" };

/** The first packet of an Ogg stream, by what it begins with. */
const oggCodecs: readonly (readonly [bytes: string, format: SoundFormat])[] = [
  ["\x01vorbis", { name: "Ogg Vorbis", decoder: "vorbis" }],
  ["OpusHead", { name: "Ogg Opus", decoder: "opus" }],
  ["\x7fFLAC", { name: "Ogg FLAC", decoder: "flac" }],
  ["Speex   ", { name: "Ogg Speex", decoder: "ffmpeg", demuxer: "ogg" }],
];

/** Whether `bytes` has the characters of `text` (one byte each) at `offset`. */
export function hasBytes(bytes: Uint8Array, offset: number, text: string): boolean {
  if (offset + text.length > bytes.length) return false;
  for (let index = 0; index < text.length; index++) if (bytes[offset + index] !== text.charCodeAt(index)) return false;
  return true;
}

/** Where the sound begins after tags of ID3v2, which precede MP3, AAC and some FLAC files. */
export function skipId3(bytes: Uint8Array): number {
  let offset = 0;
  while (hasBytes(bytes, offset, "ID3") && offset + 10 <= bytes.length) {
    const byte = (index: number): number => (bytes[offset + index] ?? 0) & 0x7f;
    const footer = (bytes[offset + 5] ?? 0) & 0x10 ? 10 : 0;
    offset += 10 + footer + byte(6) * 0x20_0000 + byte(7) * 0x4000 + byte(8) * 0x80 + byte(9);
  }
  return offset;
}

/** A frame header of MPEG audio: 11 bits of sync, a version, a layer (0 is AAC's ADTS), a bit rate and a sample rate that exist. */
function readMpegSync(bytes: Uint8Array, offset: number): SoundFormat | undefined {
  const [first = 0, second = 0, third = 0] = bytes.subarray(offset, offset + 3);
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  if ((second & 0xf6) === 0xf0) return aac;
  const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
  return version === 1 || layer === 0 || third >> 4 === 15 || ((third >> 2) & 3) === 3 ? undefined : mp3;
}

/** The format of a sound file. Undefined: it is none that is known. */
export function findSoundFormat(bytes: Uint8Array): SoundFormat | undefined {
  if (["RIFF", "RF64", "BW64", "RIFX"].some((name) => hasBytes(bytes, 0, name)) && hasBytes(bytes, 8, "WAVE"))
    return { name: "WAVE", decoder: "wave" };
  if (hasBytes(bytes, 0, "OggS")) {
    const packet = 27 + (bytes[26] ?? 0);
    return oggCodecs.find(([start]) => hasBytes(bytes, packet, start))?.[1];
  }
  const start = skipId3(bytes);
  if (hasBytes(bytes, start, "fLaC")) return flac;
  const found = readMpegSync(bytes, start);
  if (found !== undefined) return found;
  // Frames of MP3 may begin after zeros that pad a tag.
  if (start > 0) return mp3;
  return others.find(([offset, signature]) => hasBytes(bytes, offset, signature))?.[2];
}
