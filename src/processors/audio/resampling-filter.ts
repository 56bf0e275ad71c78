/**
 * The low-pass filter of resampling: a sinc under a Kaiser window. Its pass band ends at 0.9137 of the lower Nyquist frequency and its stop
 * band (-126 dB) begins at 1, as the filter of soxr's quality HQ; cutoff, window and length are fitted to soxr's impulse response.
 */

/** Numbers of input and output samples that span the same time, without common factors. */
export interface ResamplingRatio {
  readonly input: number;
  readonly output: number;
}

/** A filter over time in samples of the lower of the two rates. Its integral is 1. */
export interface ResamplingKernel {
  /** Half of the support. */
  readonly halfWidth: number;
  value(time: number): number;
}

/** Resamples one channel in pieces. Memory is that of the filter and one piece. */
export interface Resampler {
  /** Takes the next samples and returns the samples that they complete. */
  push(samples: Float32Array): Float32Array;
  /** Returns the remaining samples; the sound ends here. All pieces together have round(length * output rate / input rate) samples. */
  finish(): Float32Array;
}

/** The centre of the transition band relative to the lower Nyquist frequency, the shape of the Kaiser window, and its length. */
const design = { cutoff: 0.956872, beta: 13.04, periods: 193.2 } as const;

/** Samples that `length` samples become: the nearest whole number, with soxr's rounding of the quotient. */
export function resampledLength(length: number, { input, output }: ResamplingRatio): number {
  return Math.floor(length / (input / output) + 0.5);
}

/** The modified Bessel function of the first kind and order 0, by its power series. */
function besselI0(x: number): number {
  const square = (x * x) / 4;
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= square / (k * k);
    sum += term;
  }
  return sum;
}

/** The filter of a ratio. */
export function createResamplingKernel({ input, output }: ResamplingRatio): ResamplingKernel {
  const { cutoff, beta, periods } = design;
  // soxr's filter has 4 n + 1 taps at the common multiple of both rates; the window reaches half a tap beyond them.
  const factor = Math.max(input, output);
  const halfWidth = (2 * Math.ceil((periods * factor) / 4) + 0.5) / factor;
  const peak = besselI0(beta);
  return {
    halfWidth,
    value(time) {
      const relative = time / halfWidth;
      if (relative <= -1 || relative >= 1) return 0;
      const angle = Math.PI * cutoff * time;
      const sinc = time === 0 ? 1 : Math.sin(angle) / angle;
      return (cutoff * sinc * besselI0(beta * Math.sqrt(1 - relative * relative))) / peak;
    },
  };
}
