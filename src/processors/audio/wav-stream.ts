/** WAVE files that come in piece by piece, such as those that a recording program writes to a pipe. */
import { mixToMono, soundError } from "./sound.ts";
import { readWaveChunk, readWaveFormat, unknownWaveSize, type WaveFormat } from "./wav.ts";
import { decodeSamples } from "./wav-samples.ts";

/** The header of a WAVE file up to its samples. */
export interface WaveHeader {
  /** Hz. */
  readonly sampleRate: number;
  readonly format: WaveFormat;
  /** Offset of the first sample in bytes. */
  readonly offset: number;
  /** Bytes of all samples. Undefined: the program that wrote the header did not know it, and samples follow up to the end. */
  readonly bytes: number | undefined;
}

/** Bytes in which the samples of a WAVE file must begin. */
export const maxWaveHeaderBytes: number = 1 << 20;

/** The header at the beginning of a WAVE file. Undefined: it goes on beyond `bytes`. Throws INPUT_INVALID for a header of more than `maxWaveHeaderBytes`. */
export function readWaveHeader(bytes: Uint8Array): WaveHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: WaveFormat | undefined;
  for (let offset = 12; offset <= maxWaveHeaderBytes;) {
    if (offset + 8 > bytes.length) return undefined;
    const { name, size } = readWaveChunk(view, offset);
    const start = offset + 8;
    if (name === "data") {
      if (format === undefined) throw soundError("the WAVE file has its chunk 'data' before any chunk 'fmt '");
      const isKnown = size > 0 && size < unknownWaveSize;
      return { sampleRate: format.sampleRate, format, offset: start, bytes: isKnown ? size : undefined };
    }
    offset = start + size + (size % 2);
    if (name !== "fmt ") continue;
    if (offset > maxWaveHeaderBytes) break;
    if (offset > bytes.length) return undefined;
    format ??= readWaveFormat(view, start, size);
  }
  throw soundError(`the samples of the WAVE file do not begin within its first ${maxWaveHeaderBytes} bytes`);
}

/** The samples of a WAVE file, mixed to one channel, from parts of the file that begin at `header.offset`. Bytes after the samples are not read. */
export async function* readWaveSamples(
  { format, bytes = Number.POSITIVE_INFINITY }: WaveHeader,
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Float32Array, void, undefined> {
  const { channels, bytesPerSample } = format;
  const bytesPerFrame = channels * bytesPerSample;
  let remaining = bytes;
  let carried = new Uint8Array();
  for await (const part of parts) {
    const own = part.subarray(0, Math.min(part.length, remaining));
    remaining -= own.length;
    const all = new Uint8Array(carried.length + own.length);
    all.set(carried);
    all.set(own, carried.length);
    const frames = Math.floor(all.length / bytesPerFrame);
    const view = new DataView(all.buffer);
    const samples = Array.from({ length: channels }, (_, channel) => {
      const output = new Float32Array(frames);
      decodeSamples(view, channel * bytesPerSample, bytesPerFrame, { ...format, output });
      return output;
    });
    carried = all.slice(frames * bytesPerFrame);
    yield mixToMono(samples);
    if (remaining <= 0) return;
  }
}
