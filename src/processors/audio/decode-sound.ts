/** Sound files to samples: WAVE, MP3, FLAC, Ogg Vorbis and Opus, and what FFmpeg decodes where the user has it. The format is told by the bytes. */

import { getMessage, InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { withoutDecoderMessages } from "./decoding/decoder-console.ts";
import { decodeWithFfmpeg } from "./decoding/ffmpeg-decoder.ts";
import { splitOggLinks } from "./decoding/ogg-links.ts";
import { findSoundFormat, hasBytes, skipId3, type SoundFormat } from "./decoding/sound-format.ts";
import { readStatedLength, type StatedLength } from "./decoding/stated-length.ts";
import { createWasmDecoder, type DecodedPiece, type WasmDecoder, type WasmFormat } from "./decoding/wasm-decoders.ts";
import { createResampler } from "./resample.ts";
import type { Resampler } from "./resampling-filter.ts";
import {
  defaultSoundLimits,
  mixToMono,
  requireSoundBytes,
  requireSoundDuration,
  requireSoundFormat,
  type Sound,
  soundError,
  type SoundLimits,
} from "./sound.ts";
import { openWave } from "./wav.ts";

export interface DecodeSoundOptions {
  /** Default: `defaultSoundLimits`. */
  readonly limits?: SoundLimits;
  /** Aborts between two pieces. */
  readonly signal?: AbortSignal | undefined;
  /** Imports the package of a decoder in place of the usual one, for tests. */
  readonly load?: () => Promise<unknown>;
}

/** Bytes of an MPEG file that are decoded at a time, and sample frames of a WAVE file. */
const pieceBytes = 1 << 16;

/**
 * Bytes of other compressed files that are decoded at a time: 34 bytes of FLAC hold 65,535 samples of 8 channels of silence, and 3 bytes of Ogg Opus
 * 5,760 of 2, so that a piece has up to 130 MB of samples.
 */
const densePieceBytes = 1 << 11;

/** Consecutive samples of a sound: all pieces of one sound have one rate and one number of channels. */
type SoundPiece = Pick<Sound, "sampleRate" | "samples">;

async function* decodeWavePieces(bytes: Uint8Array, limits: SoundLimits): AsyncGenerator<SoundPiece> {
  const { sampleRate, frames, read } = openWave(bytes, limits);
  for (let at = 0; at < Math.max(1, frames); at += pieceBytes) yield { sampleRate, samples: read(at, pieceBytes) };
}

/** The header of the first frame of a FLAC file (RFC 9639, 9.1), at most 16 bytes; nothing of FLAC within Ogg, whose pages have ends. */
function firstFlacHeader(bytes: Uint8Array): Uint8Array {
  let offset = skipId3(bytes);
  if (!hasBytes(bytes, offset, "fLaC")) return new Uint8Array(0);
  offset += 4;
  for (let isLast = false; !isLast && offset + 4 <= bytes.length;) {
    const [kind = 0, high = 0, middle = 0, low = 0] = bytes.subarray(offset, offset + 4);
    isLast = kind >= 0x80;
    offset += 4 + high * 0x1_0000 + middle * 0x100 + low;
  }
  return bytes.subarray(offset, offset + 16);
}

async function* decodeWithWasm(
  bytes: Uint8Array,
  format: SoundFormat,
  load?: () => Promise<unknown>,
): AsyncGenerator<DecodedPiece> {
  const decoder = await createWasmDecoder(format.decoder as WasmFormat, format.name, load);
  const step = format.decoder === "mpeg" ? pieceBytes : densePieceBytes;
  try {
    for (let at = 0; at < bytes.length; at += step)
      yield await withoutDecoderMessages(() => decoder.decode(bytes.subarray(at, at + step)));
    // The FLAC decoder finds the end of a frame by the header of the next: without one after the last frame, it loses some last frames.
    if (format.decoder === "flac") yield await withoutDecoderMessages(() => decoder.decode(firstFlacHeader(bytes)));
    const { flush } = decoder;
    if (flush !== undefined) yield await withoutDecoderMessages(() => flush.call(decoder));
  } catch (error) {
    // A TypeError is a defect of the decoder on damaged bytes, and its message says nothing of the file.
    const reason = error instanceof TypeError ? "its decoder fails on it" : getMessage(error);
    throw soundError(`the ${format.name} file cannot be decoded: ${reason}`);
  } finally {
    freeDecoder(decoder);
  }
}

/** A part of a file that is decoded on its own. */
interface SoundLink {
  readonly bytes: Uint8Array;
  readonly stated: StatedLength | undefined;
}

/** The streams of a chained Ogg file, or the whole file. Throws INPUT_INVALID for a chain of several formats. */
function findLinks(bytes: Uint8Array, format: SoundFormat): readonly SoundLink[] {
  const isOgg = hasBytes(bytes, 0, "OggS") && format.decoder !== "ffmpeg";
  return (isOgg ? splitOggLinks(bytes) : [bytes]).map((part) => {
    const found = findSoundFormat(part);
    if (found?.decoder !== format.decoder)
      throw soundError(`the ${format.name} file goes on as ${found?.name ?? "an unknown format"}; one format is needed`);
    return { bytes: part, stated: readStatedLength(part, format) };
  });
}

/** The length that the headers of all links state; undefined where one states none. */
function addStatedLengths(links: readonly SoundLink[]): StatedLength | undefined {
  let sum: StatedLength | undefined;
  for (const { stated } of links) {
    if (stated === undefined) return undefined;
    const { frames, tolerance } = sum ?? { frames: 0, tolerance: 0 };
    sum = { ...stated, frames: frames + stated.frames, tolerance: tolerance + stated.tolerance };
  }
  return sum;
}

/** Decodes the links of a file one after the other, each with a decoder of its own. */
async function* decodeLinks(
  links: readonly SoundLink[],
  format: SoundFormat,
  load?: () => Promise<unknown>,
): AsyncGenerator<DecodedPiece> {
  for (const { bytes, stated } of links) {
    let frames = 0;
    for await (const piece of format.decoder === "ffmpeg"
      ? decodeWithFfmpeg(bytes, format, load)
      : decodeWithWasm(bytes, format, load)) {
      const { samplesDecoded, channelData } = piece;
      // The last page of Opus says where the sound ends within its last packet.
      const kept = format.decoder === "opus" && stated !== undefined ? Math.max(0, stated.frames - frames) : samplesDecoded;
      frames += samplesDecoded;
      const isCut = kept < samplesDecoded;
      yield isCut ? { ...piece, samplesDecoded: kept, channelData: channelData.map((each) => each.subarray(0, kept)) } : piece;
    }
  }
}

/** Frees a decoder. One that ended with a trap cannot be asked to; its memory goes with it. */
function freeDecoder(decoder: WasmDecoder): void {
  try {
    decoder.free();
  } catch {
    // Nothing is left to free.
  }
}

/** Integers of FLAC are scaled by 1 / (2^(bits - 1) - 1) by the decoder, and by 1 / 2^(bits - 1) everywhere else. */
function scaleFlac({ channelData, bitDepth = 0 }: DecodedPiece): void {
  const scale = 1 - 2 ** (1 - bitDepth);
  if (bitDepth < 2 || scale === 1) return;
  for (const samples of channelData)
    for (let index = 0; index < samples.length; index++) samples[index] = (samples[index] ?? 0) * scale;
}

/** Checks pieces of a compressed file as they come: one rate, one number of channels, no errors, the stated length. */
async function* checkPieces(
  pieces: AsyncIterable<DecodedPiece>,
  { name, decoder }: SoundFormat,
  limits: SoundLimits,
  stated: StatedLength | undefined,
): AsyncGenerator<SoundPiece> {
  let first: { readonly sampleRate: number; readonly channels: number } | undefined;
  let frames = 0;
  for await (const piece of pieces) {
    const { channelData, samplesDecoded, sampleRate, errors } = piece;
    const [error] = errors;
    if (error !== undefined) throw soundError(`the ${name} file is damaged: ${error.message}`);
    if (samplesDecoded === 0) continue;
    const channels = channelData.length;
    if (first === undefined) requireSoundFormat(name, sampleRate, channels);
    first ??= { sampleRate, channels };
    if (first.sampleRate !== sampleRate || first.channels !== channels)
      throw soundError(
        `the ${name} file changes from ${first.channels} channels at ${first.sampleRate} Hz to ${channels} at ${sampleRate} Hz; one format is needed`,
      );
    if (decoder === "flac") scaleFlac(piece);
    frames += samplesDecoded;
    requireSoundDuration(frames, sampleRate, limits);
    yield { sampleRate, samples: channelData };
  }
  if (stated !== undefined && frames + stated.tolerance < stated.frames)
    throw soundError(`the ${name} file is truncated: its header states ${stated.frames} sample frames, and ${frames} are there`);
}

/** The pieces of a file. Yields to the event loop between them. */
async function* decodePieces(
  bytes: Uint8Array,
  { limits = defaultSoundLimits, signal, load }: DecodeSoundOptions,
): AsyncGenerator<SoundPiece> {
  requireSoundBytes(bytes.length, limits);
  const format = findSoundFormat(bytes);
  if (format === undefined)
    throw new InferyardError(
      "MEDIA_TYPE_UNSUPPORTED",
      "the bytes are of no sound file that is known; WAVE, MP3, FLAC, Ogg Vorbis and Ogg Opus are",
      {
        data: { field: "audio" },
      },
    );
  let pieces: AsyncIterable<SoundPiece>;
  if (format.decoder === "wave") pieces = decodeWavePieces(bytes, limits);
  else {
    const links = findLinks(bytes, format);
    const stated = addStatedLengths(links);
    if (stated !== undefined) requireSoundDuration(stated.frames, stated.sampleRate, limits);
    pieces = checkPieces(decodeLinks(links, format, load), format, limits, stated);
  }
  for await (const piece of pieces) {
    throwIfAborted(signal);
    yield piece;
    await yieldToEventLoop();
  }
}

/** Joins pieces of one channel. */
function joinPieces(pieces: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/**
 * Decodes a sound file to all of its channels, at its own sample rate. Throws INPUT_INVALID for a damaged or truncated file, or one without
 * samples; MEDIA_TYPE_UNSUPPORTED for a format without a decoder; LIMIT_EXCEEDED; BACKEND_UNAVAILABLE if the package of a decoder is absent.
 */
export async function decodeSound(bytes: Uint8Array, options: DecodeSoundOptions = {}): Promise<Sound> {
  const channels: Float32Array[][] = [];
  let sampleRate = 0;
  for await (const piece of decodePieces(bytes, options)) {
    ({ sampleRate } = piece);
    for (const [channel, samples] of piece.samples.entries()) (channels[channel] ??= []).push(samples);
  }
  if (channels[0] === undefined) throw soundError("the sound file has no samples");
  return { sampleRate, channels: channels.length, samples: channels.map(joinPieces) };
}

/** Decodes a sound file to the mean of its channels at `sampleRate` Hz, piece by piece. Throws what `decodeSound` throws. */
export async function decodeMonoSound(
  bytes: Uint8Array,
  sampleRate: number,
  options: DecodeSoundOptions = {},
): Promise<Float32Array> {
  const pieces: Float32Array[] = [];
  let resampler: Resampler | undefined;
  for await (const piece of decodePieces(bytes, options)) {
    resampler ??= createResampler(piece.sampleRate, sampleRate);
    pieces.push(resampler.push(mixToMono(piece.samples)));
  }
  if (resampler === undefined) throw soundError("the sound file has no samples");
  pieces.push(resampler.finish());
  return joinPieces(pieces);
}

/** Mixes and resamples decoded sound. Yields to the event loop. */
export async function toMono({ samples, sampleRate }: Sound, rate: number, signal?: AbortSignal): Promise<Float32Array> {
  const mixed = mixToMono(samples);
  const resampler = createResampler(sampleRate, rate);
  const pieces: Float32Array[] = [];
  for (let at = 0; at < mixed.length; at += pieceBytes) {
    pieces.push(resampler.push(mixed.subarray(at, at + pieceBytes)));
    throwIfAborted(signal);
    await yieldToEventLoop();
  }
  pieces.push(resampler.finish());
  return joinPieces(pieces);
}
