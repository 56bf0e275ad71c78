/**
 * Reader of WAVE files (RIFF, RF64 and BW64 containers; Microsoft "Multiple Channel Audio Data and WAVE Files", EBU Tech 3306): linear PCM of
 * 1 to 32 bits, 32-bit and 64-bit floats, and A-law and mu-law (ITU-T G.711). Integers are scaled by a power of two, so that full scale is 1.
 */

import {
  defaultSoundLimits,
  requireSoundBytes,
  requireSoundDuration,
  requireSoundFormat,
  soundError,
  type Sound,
  type SoundLimits,
} from "./sound.ts";
import { InferyardError } from "../../contract/errors.ts";
import { decodeSamples, type WaveEncoding } from "./wav-samples.ts";

/** A WAVE file whose header has been read and checked; samples are decoded when they are read. */
export interface WaveFile {
  /** Sample frames per second (Hz). */
  readonly sampleRate: number;
  readonly channels: number;
  /** Sample frames that the file contains. */
  readonly frames: number;
  /** Decodes `count` frames from frame `from`; each channel is a new array. Fewer are returned at the end of the file. */
  read(from: number, count: number): Float32Array[];
}

/** Fields of the chunk `fmt `. */
export interface WaveFormat {
  readonly encoding: WaveEncoding;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
}

interface DataChunk {
  /** Offset of the first sample in bytes. */
  readonly offset: number;
  readonly bytes: number;
}

/** Sizes of at least this many bytes mean "unknown, up to the end of the file": programs that write to a pipe state 0x7ffff000 or 0xffffffff. */
export const unknownWaveSize = 0x7fff_f000;

const littleEndian = true;

/** Bytes 2 to 15 of the subformat GUID that carries a format tag in its first two bytes. */
const formatTagGuid = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];

/** Names of format tags that need a decoder of their own, for errors. */
const compressedFormats: Readonly<Record<number, string>> = {
  0x02: "Microsoft ADPCM",
  0x11: "IMA ADPCM",
  0x31: "GSM 6.10",
  0x50: "MPEG audio",
  0x55: "MP3",
  0xff: "AAC",
  0x161: "Windows Media Audio",
  0x674f: "Ogg Vorbis",
  0xf1ac: "FLAC",
};

function unsupported(what: string): InferyardError {
  return new InferyardError(
    "MEDIA_TYPE_UNSUPPORTED",
    `${what}; supported are PCM of 8, 16, 24 and 32 bits, floats of 32 and 64 bits, A-law and mu-law`,
    {
      data: { field: "audio" },
      remedy: "convert the file to WAVE with 16-bit PCM",
    },
  );
}

/** Four characters at `offset`, with what is not printable replaced. */
function readName(view: DataView, offset: number): string {
  let name = "";
  for (let index = 0; index < 4; index++) {
    const code = view.getUint8(offset + index);
    name += code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "?";
  }
  return name;
}

/** The encoding of a format tag, or an error that names the tag. */
function readEncoding(tag: number, bits: number): WaveEncoding {
  if (tag === 1 && bits >= 1 && bits <= 32) return bits <= 8 ? "unsigned" : "signed";
  if (tag === 3 && (bits === 32 || bits === 64)) return "float";
  if (tag === 6 && bits === 8) return "a-law";
  if (tag === 7 && bits === 8) return "mu-law";
  const names: Readonly<Record<number, string>> = { 1: "PCM", 3: "float", 6: "A-law", 7: "mu-law" };
  const name = names[tag];
  if (name !== undefined) throw unsupported(`the WAVE file has ${name} samples of ${bits} bits`);
  throw unsupported(`the WAVE file has the format ${compressedFormats[tag] ?? "tag"} (0x${tag.toString(16)})`);
}

/** Parses the chunk `fmt ` of `bytes` bytes at `offset`. */
export function readWaveFormat(view: DataView, offset: number, bytes: number): WaveFormat {
  if (bytes < 16) throw soundError(`the chunk 'fmt ' of the WAVE file has ${bytes} bytes; 16 or more are needed`);
  let tag = view.getUint16(offset, littleEndian);
  const channels = view.getUint16(offset + 2, littleEndian);
  const sampleRate = view.getUint32(offset + 4, littleEndian);
  const blockAlign = view.getUint16(offset + 12, littleEndian);
  const bits = view.getUint16(offset + 14, littleEndian);
  if (tag === 0xfffe) {
    if (bytes < 40) throw soundError(`the extensible chunk 'fmt ' of the WAVE file has ${bytes} bytes; 40 are needed`);
    if (formatTagGuid.some((byte, index) => view.getUint8(offset + 26 + index) !== byte))
      throw unsupported("the WAVE file has a subformat whose GUID stands for no format tag");
    tag = view.getUint16(offset + 24, littleEndian);
  }
  const encoding = readEncoding(tag, bits);
  requireSoundFormat("WAVE", sampleRate, channels);
  const bytesPerSample = Math.ceil(bits / 8);
  if (blockAlign !== bytesPerSample * channels)
    throw soundError(
      `the WAVE file states frames of ${blockAlign} bytes, but ${channels} channels of ${bits} bits take ${bytesPerSample * channels} bytes`,
    );
  return { encoding, channels, sampleRate, bytesPerSample };
}

/** The 64-bit size of the data chunk in the chunk `ds64` of RF64 and BW64. */
function readSize64(view: DataView, offset: number, bytes: number): number {
  if (bytes < 24) throw soundError(`the chunk 'ds64' of the WAVE file has ${bytes} bytes; 24 or more are needed`);
  const size = view.getBigUint64(offset + 8, littleEndian);
  if (size > BigInt(Number.MAX_SAFE_INTEGER))
    throw soundError(`the chunk 'ds64' of the WAVE file states ${size} bytes of samples`);
  return Number(size);
}

/** The name and the stated size in bytes of the chunk at `offset`. */
export function readWaveChunk(view: DataView, offset: number): { readonly name: string; readonly size: number } {
  return { name: readName(view, offset), size: view.getUint32(offset + 4, littleEndian) };
}

/** Walks the chunks up to the samples. */
function readChunks(view: DataView): { readonly format: WaveFormat; readonly data: DataChunk } {
  const end = view.byteLength;
  let format: WaveFormat | undefined;
  let size64: number | undefined;
  let offset = 12;
  while (offset + 8 <= end) {
    const { name, size: stated } = readWaveChunk(view, offset);
    const start = offset + 8;
    if (name === "data") {
      if (format === undefined) throw soundError("the WAVE file has its chunk 'data' before any chunk 'fmt '");
      const bytes = size64 !== undefined && stated === 0xffff_ffff ? size64 : stated;
      if (bytes > end - start && (size64 !== undefined || stated < unknownWaveSize))
        throw soundError(`the WAVE file is truncated: its header states ${bytes} bytes of samples, and ${end - start} are there`);
      return { format, data: { offset: start, bytes: Math.min(bytes, end - start) } };
    }
    if (stated > end - start)
      throw soundError(`the WAVE file is truncated: its chunk '${name}' states ${stated} bytes, and ${end - start} are there`);
    if (name === "fmt ") format ??= readWaveFormat(view, start, stated);
    if (name === "ds64") size64 ??= readSize64(view, start, stated);
    offset = start + stated + (stated % 2);
  }
  throw soundError(`the WAVE file has no chunk '${format === undefined ? "fmt " : "data"}'; it is truncated or no sound`);
}

/** Whether the bytes begin as a WAVE file does, in any of its containers. */
export function isWave(bytes: Uint8Array): boolean {
  if (bytes.length < 12) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ["RIFF", "RF64", "BW64", "RIFX"].includes(readName(view, 0)) && readName(view, 8) === "WAVE";
}

/**
 * Reads and checks the header of a WAVE file. The bytes must stay unchanged while the result is in use.
 * Throws INPUT_INVALID (no WAVE file, truncated, header that contradicts itself), MEDIA_TYPE_UNSUPPORTED (an encoding without a decoder here)
 * or LIMIT_EXCEEDED.
 */
export function openWave(bytes: Uint8Array, limits: SoundLimits = defaultSoundLimits): WaveFile {
  requireSoundBytes(bytes.length, limits);
  if (!isWave(bytes)) throw soundError("the file does not begin with the header of a WAVE file ('RIFF', size, 'WAVE')");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (readName(view, 0) === "RIFX") throw unsupported("the WAVE file is big-endian (RIFX)");
  const { format, data } = readChunks(view);
  const { channels, sampleRate, bytesPerSample } = format;
  const bytesPerFrame = channels * bytesPerSample;
  const frames = Math.floor(data.bytes / bytesPerFrame);
  requireSoundDuration(frames, sampleRate, limits);
  const samples = new DataView(bytes.buffer, bytes.byteOffset + data.offset, frames * bytesPerFrame);
  return {
    sampleRate,
    channels,
    frames,
    read(from, count) {
      const length = Math.max(0, Math.min(count, frames - from));
      return Array.from({ length: channels }, (_, channel) => {
        const output = new Float32Array(length);
        decodeSamples(samples, from * bytesPerFrame + channel * bytesPerSample, bytesPerFrame, { ...format, output });
        return output;
      });
    },
  };
}

/** Decodes a whole WAVE file. Throws what `openWave` throws. */
export function decodeWave(bytes: Uint8Array, limits: SoundLimits = defaultSoundLimits): Sound {
  const { sampleRate, channels, frames, read } = openWave(bytes, limits);
  return { sampleRate, channels, samples: read(0, frames) };
}
