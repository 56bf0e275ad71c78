/** Sound as tasks take it: the bytes of a sound file, or samples. */
import { InferyardError } from "../../contract/errors.ts";
import { resample } from "../../processors/audio/resample.ts";
import { mixToMono, soundError } from "../../processors/audio/sound.ts";
import { decodeWave, isWave } from "../../processors/audio/wav.ts";

/** Samples of one channel, from -1 to 1. */
export interface MonoSound {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly samples: Float32Array;
}

/** Bytes of a sound file, or samples. */
export type SoundInput = Uint8Array | MonoSound;

/** Samples per second of the models of speech. */
export const speechSampleRate = 16_000;

/** The sound as samples at 16 kHz. Throws INPUT_INVALID for what is no sound, and LIMIT_EXCEEDED for one that is too long. */
export async function readSound(input: SoundInput): Promise<Float32Array> {
  const { sampleRate, samples } = await decode(input);
  if (samples.length === 0) throw soundError("the sound has no samples");
  return sampleRate === speechSampleRate ? samples : resample(samples, sampleRate, speechSampleRate);
}

async function decode(input: SoundInput): Promise<MonoSound> {
  if (input instanceof Uint8Array) {
    if (!isWave(input)) throw soundError("the bytes are of no sound file in the format WAVE");
    const { sampleRate, samples } = decodeWave(input);
    return { sampleRate, samples: mixToMono(samples) };
  }
  const given: unknown = input;
  if (typeof given === "object" && given !== null && "samples" in given && given.samples instanceof Float32Array) {
    const { sampleRate } = input;
    if (Number.isFinite(sampleRate) && sampleRate > 0) return input;
    throw new InferyardError("INPUT_INVALID", `sampleRate is ${String(sampleRate)}, and must be a number above 0`);
  }
  throw new InferyardError(
    "INPUT_INVALID",
    "a sound is the bytes of a file (Uint8Array) or { sampleRate, samples } with samples as a Float32Array",
  );
}
