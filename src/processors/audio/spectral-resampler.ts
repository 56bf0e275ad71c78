/**
 * Resampling in the frequency domain: blocks overlap by the length of the filter (overlap-save); the spectrum of a block is multiplied by
 * the response of the filter, cut or extended to the other rate, and transformed back.
 */

import { createComplex } from "./complex-fft.ts";
import { createRealFft } from "./fft.ts";
import { createResamplingKernel, resampledLength, type Resampler, type ResamplingRatio } from "./resampling-filter.ts";

/** Lengths of a block in units of the ratio's terms, so that both rates divide it. */
interface Blocks {
  /** Units of a block: a power of two. */
  readonly units: number;
  /** Units at each end of a block whose result is dropped: half of the filter or more. */
  readonly dropped: number;
}

function planBlocks({ input }: ResamplingRatio, halfWidth: number): Blocks {
  const dropped = Math.ceil((halfWidth + 1) / input);
  return { units: 2 ** Math.ceil(Math.log2(12 * dropped)), dropped };
}

/** The response of the filter at the bins of a block from 0 to below `bins`, real since the filter is symmetric. */
function filterResponse(ratio: ResamplingRatio, units: number, bins: number): Float64Array {
  const length = units * Math.max(ratio.input, ratio.output);
  const perSample = Math.max(ratio.input, ratio.output) / Math.min(ratio.input, ratio.output);
  const kernel = createResamplingKernel(ratio);
  const frame = new Float64Array(length);
  for (let index = 0; index / perSample <= kernel.halfWidth; index++) {
    const value = kernel.value(index / perSample) / perSample;
    frame[index] = value;
    if (index > 0) frame[length - index] = value;
  }
  const spectrum = createComplex(length / 2 + 1);
  createRealFft(length).forward(frame, spectrum);
  return spectrum.real.slice(0, bins);
}

/** A resampler for ratios whose terms have small prime factors. */
export function createSpectralResampler(ratio: ResamplingRatio): Resampler {
  const { input, output } = ratio;
  /** Half of the filter's support in input samples. */
  const halfWidth = createResamplingKernel(ratio).halfWidth * Math.max(1, input / output);
  const { units, dropped } = planBlocks(ratio, halfWidth);
  const kept = units - 2 * dropped;
  const forward = createRealFft(units * input);
  const backward = createRealFft(units * output);
  const bins = (units * Math.min(input, output)) / 2;
  // `inverse` multiplies by half of its length; the spectrum of fewer or more samples is scaled with their number.
  const response = filterResponse(ratio, units, bins).map((value) => (value * 2) / (units * input));
  const before = createComplex(forward.length / 2 + 1);
  const after = createComplex(backward.length / 2 + 1);
  const block = new Float64Array(forward.length);
  const result = new Float64Array(backward.length);
  /** Samples in `block`: at first the zeros before the sound. */
  let filled = dropped * input;
  let received = 0;
  let produced = 0;

  /** Resamples the full block into `target` from `at` on, and moves the samples that the next block begins with to the front. */
  function runBlock(target: Float32Array, at: number): void {
    forward.forward(block, before);
    for (let bin = 0; bin < bins; bin++) {
      const factor = response[bin] ?? 0;
      after.real[bin] = (before.real[bin] ?? 0) * factor;
      after.imaginary[bin] = (before.imaginary[bin] ?? 0) * factor;
    }
    backward.inverse(after, result);
    const first = dropped * output;
    const count = Math.min(kept * output, target.length - at);
    for (let index = 0; index < count; index++) target[at + index] = result[first + index] ?? 0;
    block.copyWithin(0, kept * input);
    filled -= kept * input;
  }

  /** Takes samples into the block; each time it is full, `kept * output` samples are ready. */
  function take(samples: Float32Array, target: Float32Array): void {
    let written = 0;
    for (let at = 0; at < samples.length;) {
      const count = Math.min(samples.length - at, block.length - filled);
      for (let index = 0; index < count; index++) block[filled + index] = samples[at + index] ?? 0;
      filled += count;
      at += count;
      if (filled < block.length) continue;
      runBlock(target, written);
      written = Math.min(target.length, written + kept * output);
    }
    produced += written;
  }

  return {
    push(samples) {
      received += samples.length;
      const total = filled + samples.length;
      const full = total < block.length ? 0 : Math.floor((total - block.length) / (kept * input)) + 1;
      const target = new Float32Array(full * kept * output);
      take(samples, target);
      return target;
    },
    finish() {
      const target = new Float32Array(resampledLength(received, ratio) - produced);
      const full = Math.ceil(target.length / (kept * output));
      take(new Float32Array(Math.max(0, block.length - filled + (full - 1) * kept * input)), target);
      return target;
    },
  };
}
