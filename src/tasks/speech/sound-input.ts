/** Sound as tasks take it: the bytes of a sound file, or samples. */
import { InferyardError } from "../../contract/errors.ts";
import { decodeMonoSound, toMono } from "../../processors/audio/decode-sound.ts";
import { defaultSoundLimits, requireSoundDuration, sampleRateRange, soundError } from "../../processors/audio/sound.ts";

/** Samples of one channel, from -1 to 1. */
export interface MonoSound {
  /** Samples per second, a whole number. */
  readonly sampleRate: number;
  readonly samples: Float32Array;
}

/** Bytes of a sound file, or samples. */
export type SoundInput = Uint8Array | MonoSound;

/** Mono sound in chunks of any length. */
export interface SoundChunks {
  /** Samples per second of the chunks, a whole number. */
  readonly sampleRate: number;
  /**
   * Samples from -1 to 1 (Float32Array), or bytes of 16-bit little-endian PCM (Uint8Array), of which a chunk may end within a sample. Each chunk is asked for
   * when the sound before it is processed.
   */
  readonly chunks: AsyncIterable<Float32Array | Uint8Array>;
}

/** A sound that is transcribed: a whole one, or one that still comes in. */
export type SpokenSound = SoundInput | SoundChunks;

/** Samples per second of the models of speech. */
export const speechSampleRate = 16_000;

/**
 * The sound as samples at `sampleRate` Hz: decoded, mixed and resampled. Throws INPUT_INVALID for what is no sound, MEDIA_TYPE_UNSUPPORTED for a format
 * that nothing decodes, and LIMIT_EXCEEDED for a sound that is too long.
 */
export async function readSound(
  input: SoundInput,
  { sampleRate = speechSampleRate, signal }: { readonly sampleRate?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<Float32Array> {
  const samples = await decode(input, sampleRate, signal);
  if (samples.length === 0) throw soundError("the sound has no samples");
  for (const sample of samples)
    if (!Number.isFinite(sample)) throw soundError("the sound has samples that are no finite numbers");
  return samples;
}

async function decode(input: SoundInput, sampleRate: number, signal: AbortSignal | undefined): Promise<Float32Array> {
  if (input instanceof Uint8Array) return decodeMonoSound(input, sampleRate, { signal });
  const given: unknown = input;
  if (typeof given !== "object" || given === null || !("samples" in given) || !(given.samples instanceof Float32Array))
    throw new InferyardError(
      "INPUT_INVALID",
      "a sound is the bytes of a file (Uint8Array) or { sampleRate, samples } with samples as a Float32Array",
    );
  const { sampleRate: rate, samples } = input;
  if (!Number.isInteger(rate) || rate < sampleRateRange.min || rate > sampleRateRange.max)
    throw soundError(
      `sampleRate is ${String(rate)}, and must be a whole number from ${sampleRateRange.min} to ${sampleRateRange.max}`,
    );
  requireSoundDuration(samples.length, rate, defaultSoundLimits);
  return rate === sampleRate ? samples : toMono({ sampleRate: rate, channels: 1, samples: [samples] }, sampleRate, signal);
}
