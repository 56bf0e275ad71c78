/**
 * Fast Fourier transform of real frames: a complex transform of half the length whose result is split into the spectrum of the even and of the
 * odd samples. In 64-bit floats, without allocation per frame.
 */

import { type Complex, createComplex, createComplexFft } from "./complex-fft.ts";

/** Transforms real frames of one length. The working arrays are reused by each call. */
export interface RealFft {
  /** Samples of a frame: even. */
  readonly length: number;
  /** Writes the discrete Fourier transform X[k] of `frame` (`[length]`) to `spectrum`, for k from 0 to `length` / 2. */
  forward(frame: Float64Array, spectrum: Complex): void;
  /** Writes |X[k]|^2 to `power`, for k from 0 to `length` / 2. */
  powerSpectrum(frame: Float64Array, power: Float64Array): void;
  /** Writes the frame of a spectrum to `frame`, times `length` / 2: the inverse of `forward` without its division. */
  inverse(spectrum: Complex, frame: Float64Array): void;
}

/** A transform of real frames of `length` samples, an even number. */
export function createRealFft(length: number): RealFft {
  if (!Number.isInteger(length) || length < 2 || length % 2 !== 0)
    throw new RangeError(`a real transform of ${length} samples; the length must be even and 2 or more`);
  const half = length / 2;
  const transform = createComplexFft(half);
  const packed = createComplex(half);
  const own = createComplex(half + 1);
  const cosines = Float64Array.from({ length: half + 1 }, (_, k) => Math.cos((-2 * Math.PI * k) / length));
  const sines = Float64Array.from({ length: half + 1 }, (_, k) => Math.sin((-2 * Math.PI * k) / length));

  function forward(frame: Float64Array, spectrum: Complex): void {
    for (let index = 0; index < half; index++) {
      packed.real[index] = frame[2 * index] ?? 0;
      packed.imaginary[index] = frame[2 * index + 1] ?? 0;
    }
    const { real, imaginary } = transform(packed);
    for (let k = 0; k <= half; k++) {
      const low = k === half ? 0 : k;
      const high = k === 0 ? 0 : half - k;
      const evenR = ((real[low] ?? 0) + (real[high] ?? 0)) / 2;
      const evenI = ((imaginary[low] ?? 0) - (imaginary[high] ?? 0)) / 2;
      const oddR = ((imaginary[low] ?? 0) + (imaginary[high] ?? 0)) / 2;
      const oddI = ((real[high] ?? 0) - (real[low] ?? 0)) / 2;
      const cosine = cosines[k] ?? 0;
      const sine = sines[k] ?? 0;
      spectrum.real[k] = evenR + oddR * cosine - oddI * sine;
      spectrum.imaginary[k] = evenI + oddR * sine + oddI * cosine;
    }
  }

  return {
    length,
    forward,
    powerSpectrum(frame, power) {
      forward(frame, own);
      for (let k = 0; k <= half; k++) {
        const r = own.real[k] ?? 0;
        const i = own.imaginary[k] ?? 0;
        power[k] = r * r + i * i;
      }
    },
    inverse({ real, imaginary }, frame) {
      // The conjugate of the packed spectrum, so that the forward transform inverts it.
      for (let k = 0; k < half; k++) {
        const evenR = ((real[k] ?? 0) + (real[half - k] ?? 0)) / 2;
        const evenI = ((imaginary[k] ?? 0) - (imaginary[half - k] ?? 0)) / 2;
        const differenceR = ((real[k] ?? 0) - (real[half - k] ?? 0)) / 2;
        const differenceI = ((imaginary[k] ?? 0) + (imaginary[half - k] ?? 0)) / 2;
        const cosine = cosines[k] ?? 0;
        const sine = sines[k] ?? 0;
        const oddR = differenceR * cosine + differenceI * sine;
        const oddI = differenceI * cosine - differenceR * sine;
        packed.real[k] = evenR - oddI;
        packed.imaginary[k] = -(evenI + oddR);
      }
      const result = transform(packed);
      for (let index = 0; index < half; index++) {
        frame[2 * index] = result.real[index] ?? 0;
        frame[2 * index + 1] = -(result.imaginary[index] ?? 0);
      }
    },
  };
}
