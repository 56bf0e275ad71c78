/** Formats without a decoder of their own (M4A, AAC, WebM, AIFF, ...), decoded by FFmpeg where the user has installed the package node-av. */

import { getMessage, InferyardError } from "../../../contract/errors.ts";
import { soundError } from "../sound.ts";
import type { SoundFormat } from "./sound-format.ts";
import type { DecodedPiece } from "./wasm-decoders.ts";

/** What is used of node-av, in version 6. Its asynchronous iterators need Node.js 22, so that those that are not are used. */
interface FfmpegModule {
  readonly Demuxer: { open(bytes: Buffer, options: { readonly format: string }): Promise<FfmpegInput> };
  readonly Decoder: { create(stream: FfmpegStream): Promise<FfmpegDecoder> };
  /** Messages of the library, which it writes to stderr. */
  readonly Log: { setLevel(level: number): void };
  readonly AV_LOG_QUIET: number;
  avGetSampleFmtName(format: number): string | null;
}

interface FfmpegInput {
  audio(): FfmpegStream | undefined;
  packetsSync(stream: number): Iterable<unknown>;
  close(): Promise<void>;
}

interface FfmpegStream {
  readonly index: number;
}

interface FfmpegDecoder {
  framesSync(packets: Iterable<unknown>): Iterable<FfmpegFrame | null>;
  close(): void;
}

interface FfmpegFrame {
  readonly nbSamples: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly format: number;
  /** One buffer, or one for each channel if the format's name ends with "p". */
  readonly data: readonly Uint8Array[] | null;
  free(): void;
}

const littleEndian = true;

/** Readers of a sample at a byte offset, by FFmpeg's name of the sample format, with the bytes of a sample. */
const sampleReaders: Readonly<Record<string, readonly [bytes: number, read: (view: DataView, at: number) => number]>> = {
  u8: [1, (view, at) => (view.getUint8(at) - 128) / 128],
  s16: [2, (view, at) => view.getInt16(at, littleEndian) / 32_768],
  s32: [4, (view, at) => view.getInt32(at, littleEndian) / 2_147_483_648],
  flt: [4, (view, at) => view.getFloat32(at, littleEndian)],
  dbl: [8, (view, at) => view.getFloat64(at, littleEndian)],
};

function toPiece({ nbSamples, channels, sampleRate, data }: FfmpegFrame, formatName: string): DecodedPiece {
  const planar = formatName.endsWith("p");
  const reader = sampleReaders[planar ? formatName.slice(0, -1) : formatName];
  if (reader === undefined || data === null) throw soundError(`FFmpeg decodes the file to samples of the format ${formatName}`);
  const [bytes, read] = reader;
  const channelData = Array.from({ length: channels }, (_, channel) => {
    const plane = data[planar ? channel : 0] ?? new Uint8Array(0);
    const view = new DataView(plane.buffer, plane.byteOffset, plane.byteLength);
    const [start, step] = planar ? [0, bytes] : [channel * bytes, channels * bytes];
    return Float32Array.from({ length: nbSamples }, (_sample, index) => read(view, start + index * step));
  });
  return { channelData, samplesDecoded: nbSamples, sampleRate, errors: [] };
}

/** Imports node-av. Throws MEDIA_TYPE_UNSUPPORTED, which names the format and the command that installs it, if it is absent. */
async function importFfmpeg(format: SoundFormat, load: () => Promise<unknown>): Promise<FfmpegModule> {
  try {
    const ffmpeg = (await load()) as FfmpegModule;
    ffmpeg.Log.setLevel(ffmpeg.AV_LOG_QUIET);
    return ffmpeg;
  } catch (error) {
    throw new InferyardError(
      "MEDIA_TYPE_UNSUPPORTED",
      `the sound file has the format ${format.name}, which FFmpeg decodes through the package node-av`,
      {
        remedy: "npm install node-av, or convert the file to WAVE, FLAC, MP3 or Ogg",
        data: { field: "audio", format: format.name },
        cause: error,
      },
    );
  }
}

/** The package's name is no literal, so that nothing bundles it: it has native code of 100 MB and more. */
const packageName = "node-av";

/** Decodes a whole file piece by piece. Throws INPUT_INVALID for bytes that FFmpeg refuses. `load` replaces the import, for tests. */
export async function* decodeWithFfmpeg(
  bytes: Uint8Array,
  format: SoundFormat,
  load: () => Promise<unknown> = () => import(packageName),
): AsyncGenerator<DecodedPiece> {
  const ffmpeg = await importFfmpeg(format, load);
  const refuse = (error: unknown): InferyardError =>
    soundError(`FFmpeg cannot decode the ${format.name} file: ${getMessage(error)}`);
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const input = await ffmpeg.Demuxer.open(view, { format: format.demuxer ?? "" }).catch((error: unknown) => {
    throw refuse(error);
  });
  let decoder: FfmpegDecoder | undefined;
  try {
    const stream = input.audio();
    if (stream === undefined) throw soundError(`the ${format.name} file has no sound`);
    decoder = await ffmpeg.Decoder.create(stream);
    for (const frame of decoder.framesSync(input.packetsSync(stream.index))) {
      if (frame === null) continue;
      const piece = toPiece(frame, ffmpeg.avGetSampleFmtName(frame.format) ?? String(frame.format));
      frame.free();
      yield piece;
    }
  } catch (error) {
    throw error instanceof InferyardError ? error : refuse(error);
  } finally {
    decoder?.close();
    await input.close();
  }
}
