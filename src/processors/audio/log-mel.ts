/**
 * Whisper's log-mel front end (Radford et al. 2022; transformers' `WhisperFeatureExtractor`): centred frames under a periodic Hann window with
 * reflected edges, power spectrum, Slaney mel filters, log10, 8 decades of dynamic range. The short-time Fourier transform is in 64-bit floats.
 */

import { createRealFft } from "./fft.ts";
import { createMelFilters } from "./mel-filters.ts";
import { soundError } from "./sound.ts";

export interface LogMelSettings {
  /** Number of mel bins: 80, or 128 for large-v3. */
  readonly mels: number;
  /** Hz; 16,000 if absent. */
  readonly sampleRate?: number;
  /** Samples of a frame, which is also the length of the transform: even; 400 if absent. */
  readonly fftLength?: number;
  /** Samples from one frame to the next; 160 if absent. */
  readonly hopLength?: number;
}

/** Frames to compute. */
export interface FrameRange {
  /** Index of the first frame; the centre of frame n is at sample n * hop length. */
  readonly first: number;
  readonly frames: number;
  /** Samples of the sound with its padding: zeros follow the given samples up to here, or samples beyond are ignored. */
  readonly length: number;
}

/** Features of a sound, row-major `[mels, frames]`. */
export interface LogMelFeatures {
  readonly mels: number;
  readonly frames: number;
  readonly data: Float32Array;
}

export interface LogMelFrontEnd {
  readonly mels: number;
  readonly sampleRate: number;
  readonly hopLength: number;
  /**
   * log10 of the mel energies, at least -10, of some frames, without the dynamic range of `limitDynamicRange`, row-major `[mels, frames]`. So long
   * sounds are computed in pieces. The sound is mono at `sampleRate`.
   */
  logEnergies(samples: Float32Array, range: FrameRange): Float32Array;
  /**
   * The features of a sound as the model takes them: floor(length / hop length) frames. `length` is in samples as in `FrameRange`: 480,000 is
   * what Whisper's encoder takes; that of `samples` if absent.
   */
  features(samples: Float32Array, length?: number): LogMelFeatures;
}

/** The smallest mel energy, whose log10 is -10. */
const energyFloor = 1e-10;

/** The mel energies of Whisper end here, whatever the sample rate (Hz). */
const maxFrequency = 8000;

/** The largest value; -10, the floor of log energies, of an empty array. */
export function maximumLogEnergy(logEnergies: Float32Array): number {
  let max = -10;
  for (const value of logEnergies) if (value > max) max = value;
  return max;
}

/** Scales log energies in place to what Whisper's encoder takes: (max(x, maximum - 8) + 4) / 4. */
export function limitDynamicRange(logEnergies: Float32Array, maximum: number): void {
  const floor = maximum - 8;
  for (let index = 0; index < logEnergies.length; index++) {
    const value = logEnergies[index] ?? 0;
    logEnergies[index] = ((value > floor ? value : floor) + 4) / 4;
  }
}

/** The periodic Hann window, 0.5 - 0.5 cos(2 pi n / length). */
export function hannWindow(length: number): Float64Array {
  return Float64Array.from({ length }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / length));
}

/** The index within 0 to length - 1 that `index` outside reflects to; the edges are not repeated. */
function reflect(index: number, length: number): number {
  if (length === 1) return 0;
  const period = 2 * (length - 1);
  const within = ((index % period) + period) % period;
  return within < length ? within : period - within;
}

/** Builds the front end; it may be used for any number of sounds, one at a time. Throws INPUT_INVALID for settings that no transform obeys. */
export function createLogMel(settings: LogMelSettings): LogMelFrontEnd {
  const { mels, sampleRate = 16_000, fftLength = 400, hopLength = 160 } = settings;
  for (const [field, value] of Object.entries({
    feature_size: mels,
    sampling_rate: sampleRate,
    n_fft: fftLength,
    hop_length: hopLength,
  }))
    if (!Number.isInteger(value) || value < 1) throw soundError(`${field} is ${value}; a whole number of 1 or more is needed`);
  if (fftLength % 2 !== 0) throw soundError(`n_fft is ${fftLength}; an even number is needed`);
  const fft = createRealFft(fftLength);
  const bins = fftLength / 2 + 1;
  const filters = createMelFilters({
    mels,
    bins,
    minFrequency: 0,
    maxFrequency,
    sampleRate,
    scale: "slaney",
    norm: "slaney",
    triangularizeInMelSpace: false,
  });
  const window = hannWindow(fftLength);
  const frame = new Float64Array(fftLength);
  const power = new Float64Array(bins);
  const energies = new Float64Array(mels);

  /** Fills `frame` with windowed samples from `start` on. Returns false where all are zeros after the end of the sound. */
  function fillFrame(samples: Float32Array, start: number, length: number): boolean {
    const given = Math.min(samples.length, length);
    const end = start + fftLength;
    if (start >= given && end <= length) return false;
    if (start >= 0 && end <= given) {
      for (let index = 0; index < fftLength; index++) frame[index] = (samples[start + index] ?? 0) * (window[index] ?? 0);
      return true;
    }
    for (let index = 0; index < fftLength; index++) {
      const at = reflect(start + index, length);
      frame[index] = at < given ? (samples[at] ?? 0) * (window[index] ?? 0) : 0;
    }
    return true;
  }

  function logEnergies(samples: Float32Array, { first, frames, length }: FrameRange): Float32Array {
    const output = new Float32Array(mels * frames).fill(-10);
    if (length < 1) return output;
    for (let index = 0; index < frames; index++) {
      if (!fillFrame(samples, (first + index) * hopLength - fftLength / 2, length)) continue;
      fft.powerSpectrum(frame, power);
      filters.apply(power, energies);
      for (let mel = 0; mel < mels; mel++) {
        const energy = energies[mel] ?? 0;
        if (energy > energyFloor) output[mel * frames + index] = Math.log10(energy);
      }
    }
    return output;
  }

  return {
    mels,
    sampleRate,
    hopLength,
    logEnergies,
    features(samples, length = samples.length) {
      const frames = Math.floor(length / hopLength);
      const data = logEnergies(samples, { first: 0, frames, length });
      limitDynamicRange(data, maximumLogEnergy(data));
      return { mels, frames, data };
    },
  };
}
