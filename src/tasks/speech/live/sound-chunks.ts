/** Sound that arrives in chunks: from a microphone, a pipe or a socket. */
import { abortable } from "../../../concurrency/abortable.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import { createResampler } from "../../../processors/audio/resample.ts";
import type { Resampler } from "../../../processors/audio/resampling-filter.ts";
import { sampleRateRange, soundError } from "../../../processors/audio/sound.ts";
import type { SoundChunks, SpokenSound } from "../sound-input.ts";

/** Whether a sound arrives in chunks. */
export function isSoundChunks(sound: SpokenSound): sound is SoundChunks {
  return typeof sound === "object" && sound !== null && "chunks" in sound;
}

/** Throws INPUT_INVALID unless the sample rate is a possible one and `chunks` is an async iterable. */
export function requireSoundChunks({ sampleRate, chunks }: SoundChunks): void {
  const given: unknown = chunks;
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given))
    throw soundError("the chunks of a sound are an async iterable of Float32Array (samples) or Uint8Array (16-bit PCM)");
  if (!Number.isInteger(sampleRate) || sampleRate < sampleRateRange.min || sampleRate > sampleRateRange.max)
    throw soundError(
      `sampleRate is ${String(sampleRate)}, and must be a whole number from ${sampleRateRange.min} to ${sampleRateRange.max}`,
    );
}

/** Samples that are returned at a time, so that a long chunk takes no more memory than it has. */
const pieceLength = 1 << 16;

/** Reads chunks one by one, at another sample rate. */
export class ChunkReader {
  readonly #iterator: AsyncIterator<Float32Array | Uint8Array>;
  readonly #resampler: Resampler;
  readonly #signal: AbortSignal;
  /** Low byte of a PCM sample whose high byte is in the next chunk. */
  #lowByte: number | undefined;
  /** Samples of the last chunk that were not returned yet. */
  #rest: Float32Array = new Float32Array();
  #ended = false;

  /** `sampleRate`: Hz of the samples that `next` returns. */
  constructor(sound: SoundChunks, sampleRate: number, signal: AbortSignal) {
    requireSoundChunks(sound);
    this.#iterator = sound.chunks[Symbol.asyncIterator]();
    this.#resampler = createResampler(sound.sampleRate, sampleRate);
    this.#signal = signal;
  }

  /**
   * The samples that the next chunk completes, or the next piece of a long chunk; possibly none; undefined after the last. A byte that completes no sample at
   * the end is ignored. Throws INPUT_INVALID for chunks of another kind and for samples that are no finite numbers, and ABORTED.
   */
  async next(): Promise<Float32Array | undefined> {
    throwIfAborted(this.#signal);
    if (this.#rest.length === 0) {
      if (this.#ended) return undefined;
      const { done, value } = await abortable(this.#iterator.next(), this.#signal);
      if (done === true) {
        this.#ended = true;
        return this.#resampler.finish();
      }
      this.#rest = this.#toSamples(value);
    }
    const piece = this.#rest.subarray(0, pieceLength);
    this.#rest = this.#rest.subarray(pieceLength);
    return this.#resampler.push(piece);
  }

  /** Tells the source that no more chunks are asked for. Does not wait for it: a source that waits for sound would never answer. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#iterator.return?.().catch(() => undefined);
  }

  #toSamples(chunk: unknown): Float32Array {
    if (chunk instanceof Float32Array) {
      for (const sample of chunk)
        if (!Number.isFinite(sample)) throw soundError("the sound has samples that are no finite numbers");
      return chunk;
    }
    if (chunk instanceof Uint8Array) return this.#fromPcm(chunk);
    throw new InferyardError(
      "INPUT_INVALID",
      "a chunk of sound is a Float32Array of samples or a Uint8Array with 16-bit little-endian PCM",
      { data: { field: "audio" } },
    );
  }

  #fromPcm(bytes: Uint8Array): Float32Array {
    const carried = this.#lowByte === undefined ? 0 : 1;
    const count = (bytes.length + carried) >> 1;
    const byteAt = (index: number): number => (index < carried ? (this.#lowByte ?? 0) : (bytes[index - carried] ?? 0));
    const samples = Float32Array.from({ length: count }, (_, index) => {
      const unsigned = byteAt(2 * index) | (byteAt(2 * index + 1) << 8);
      return (unsigned >= 0x8000 ? unsigned - 0x1_0000 : unsigned) / 0x8000;
    });
    const total = bytes.length + carried;
    this.#lowByte = total % 2 === 0 ? undefined : byteAt(total - 1);
    return samples;
  }
}
