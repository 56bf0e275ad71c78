/** Decoded sound, the limits of decoding, and mixing. */

import { InferyardError } from "../../contract/errors.ts";

/** Decoded sound: 32-bit float samples, nominally within -1 to 1. */
export interface Sound {
  /** Sample frames per second (Hz). */
  readonly sampleRate: number;
  /** Number of channels. */
  readonly channels: number;
  /** The samples of each channel, all of equal length. */
  readonly samples: readonly Float32Array[];
}

/** Limits on sound from outside, checked before samples are decoded. */
export interface SoundLimits {
  /** Maximum size of the encoded file in bytes. */
  readonly maxBytes: number;
  /** Maximum duration in seconds. */
  readonly maxSeconds: number;
}

/** 512 MiB and 4 hours. */
export const defaultSoundLimits: SoundLimits = { maxBytes: 512 * 1024 * 1024, maxSeconds: 4 * 3600 };

/** The sample rates in Hz that a sound file may state. */
export const sampleRateRange = { min: 1000, max: 768_000 } as const;

/** Maximum number of channels of a sound file. */
export const maxChannels = 64;

/** Throws LIMIT_EXCEEDED if the encoded file is larger than `limits.maxBytes`. */
export function requireSoundBytes(bytes: number, limits: SoundLimits): void {
  if (bytes <= limits.maxBytes) return;
  throw new InferyardError(
    "LIMIT_EXCEEDED",
    `the sound file has ${bytes} bytes, more than the limit of ${limits.maxBytes} bytes`,
    {
      data: { field: "audio", bytes, maxBytes: limits.maxBytes },
    },
  );
}

/** Throws LIMIT_EXCEEDED if `frames` sample frames at `sampleRate` Hz last longer than `limits.maxSeconds`. */
export function requireSoundDuration(frames: number, sampleRate: number, limits: SoundLimits): void {
  const seconds = frames / sampleRate;
  if (seconds <= limits.maxSeconds) return;
  throw new InferyardError(
    "LIMIT_EXCEEDED",
    `the sound lasts ${seconds.toFixed(1)} seconds, longer than the limit of ${limits.maxSeconds} seconds`,
    { data: { field: "audio", seconds, maxSeconds: limits.maxSeconds } },
  );
}

/** INPUT_INVALID about the field `audio`, to be thrown. */
export function soundError(message: string, remedy?: string): InferyardError {
  return new InferyardError("INPUT_INVALID", message, { data: { field: "audio" }, remedy });
}

/** Throws INPUT_INVALID unless a file's sample rate and channel count are within `sampleRateRange` and 1 to `maxChannels`. */
export function requireSoundFormat(format: string, sampleRate: number, channels: number): void {
  if (!(sampleRate >= sampleRateRange.min && sampleRate <= sampleRateRange.max))
    throw soundError(
      `the ${format} file states a sample rate of ${sampleRate} Hz; allowed are ${sampleRateRange.min} to ${sampleRateRange.max} Hz`,
    );
  if (!(channels >= 1 && channels <= maxChannels))
    throw soundError(`the ${format} file states ${channels} channels; allowed are 1 to ${maxChannels}`);
}

/**
 * The mean of all channels, as a single channel. The sum is in 64 bits and rounded once. A sound of one channel is returned without a copy.
 */
export function mixToMono(samples: readonly Float32Array[]): Float32Array {
  const [first] = samples;
  if (first === undefined) throw soundError("the sound has no channels; 1 or more are needed");
  if (samples.length === 1) return first;
  const mixed = new Float32Array(first.length);
  const [, second] = samples;
  if (samples.length === 2 && second !== undefined) {
    for (let frame = 0; frame < mixed.length; frame++) mixed[frame] = ((first[frame] ?? 0) + (second[frame] ?? 0)) * 0.5;
    return mixed;
  }
  for (let frame = 0; frame < mixed.length; frame++) {
    let sum = 0;
    for (const channel of samples) sum += channel[frame] ?? 0;
    mixed[frame] = sum / samples.length;
  }
  return mixed;
}
