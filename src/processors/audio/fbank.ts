/**
 * Kaldi's log mel filter banks (`compute-fbank-feats`), as transformers computes them for AST and SeamlessM4T: frames of 25 ms every 10 ms without
 * padding, each without its mean and with pre-emphasis, a transform of 512 samples, mel filters from 20 Hz to half the sample rate, natural logarithm.
 */

import { createRealFft } from "./fft.ts";
import { createMelFilters } from "./mel-filters.ts";
import { soundError } from "./sound.ts";

export interface FbankSettings {
  readonly mels: number;
  /** Hz: 16,000. */
  readonly sampleRate: number;
  /** hann: the symmetric Hann window; povey: its power of 0.85. */
  readonly window: "hann" | "povey";
  /** Factor of the samples: 32,768 where features are computed of 16-bit integers. */
  readonly scale: number;
}

/** Features, row-major `[frames, mels]`. */
export interface FbankFeatures {
  readonly frames: number;
  readonly data: Float32Array;
}

const frameLength = 400;
const hopLength = 160;
const fftLength = 512;
const preemphasis = 0.97;
/** The smallest mel energy: the difference between 1 and the next 32-bit float. */
const energyFloor = 1.192092955078125e-7;

/** Builds the front end; `compute` may be called any number of times. It throws INPUT_INVALID for a sound that is shorter than a frame. */
export function createFbank({ mels, sampleRate, window, scale }: FbankSettings): {
  compute(samples: Float32Array, maxFrames?: number): FbankFeatures;
} {
  const fft = createRealFft(fftLength);
  const filters = createMelFilters({
    mels,
    bins: fftLength / 2 + 1,
    minFrequency: 20,
    maxFrequency: Math.floor(sampleRate / 2),
    sampleRate,
    scale: "kaldi",
    norm: "none",
    triangularizeInMelSpace: true,
  });
  const weights = Float64Array.from({ length: frameLength }, (_, index) => {
    const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (frameLength - 1));
    return window === "povey" ? hann ** 0.85 : hann;
  });
  const frame = new Float64Array(fftLength);
  const power = new Float64Array(fftLength / 2 + 1);
  const energies = new Float64Array(mels);

  function fillFrame(samples: Float32Array, start: number): void {
    let sum = 0;
    for (let index = 0; index < frameLength; index++) {
      const sample = (samples[start + index] ?? 0) * scale;
      frame[index] = sample;
      sum += sample;
    }
    const mean = sum / frameLength;
    let before = 0;
    for (let index = 0; index < frameLength; index++) {
      const sample = (frame[index] ?? 0) - mean;
      // The first sample is its own predecessor.
      frame[index] = (sample - preemphasis * (index === 0 ? sample : before)) * (weights[index] ?? 0);
      before = sample;
    }
  }

  return {
    compute(samples, maxFrames = Infinity) {
      if (samples.length < frameLength)
        throw soundError(`the sound has ${samples.length} samples at ${sampleRate} Hz; ${frameLength} or more are needed`);
      const frames = Math.min(maxFrames, 1 + Math.floor((samples.length - frameLength) / hopLength));
      const data = new Float32Array(frames * mels);
      for (let index = 0; index < frames; index++) {
        fillFrame(samples, index * hopLength);
        fft.powerSpectrum(frame, power);
        filters.apply(power, energies);
        for (let mel = 0; mel < mels; mel++) data[index * mels + mel] = Math.log(Math.max(energies[mel] ?? 0, energyFloor));
      }
      return { frames, data };
    },
  };
}
